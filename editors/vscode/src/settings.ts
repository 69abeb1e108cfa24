/** The settings under `fullgraph`: those of the extension, and those that the server reads. */

import * as vscode from "vscode";

export const SECTION = "fullgraph";

/** Every key that the server knows; it refuses others. */
const FOR_SERVER = ["select", "ignore", "exclude", "torch", "options", "python", "device", "backend", "mode"];

/** What must change for the server to be started anew. */
const OF_THE_PROCESS = ["path", "python"];

export function extensionPath(): string {
  return vscode.workspace.getConfiguration(SECTION).get<string>("path", "").trim();
}

export function chosenPython(): string {
  return vscode.workspace.getConfiguration(SECTION).get<string>("python", "").trim();
}

/** The section as the server reads it; `python` is the interpreter that was found if none is set. */
export function forServer(interpreter: string | undefined): Record<string, unknown> {
  const settings = vscode.workspace.getConfiguration(SECTION);
  const held = Object.fromEntries(FOR_SERVER.map((key) => [key, settings.get(key)]));
  return { ...held, python: interpreter ?? "" };
}

export function needsRestart(event: vscode.ConfigurationChangeEvent): boolean {
  return OF_THE_PROCESS.some((key) => event.affectsConfiguration(`${SECTION}.${key}`));
}
