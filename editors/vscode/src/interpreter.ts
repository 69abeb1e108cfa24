/** The interpreter of the workspace: the setting, else what the Python extension has selected, else .venv. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as vscode from "vscode";
import { expand, Machine, workspaceInterpreter } from "./locate";
import { chosenPython } from "./settings";

/** The part of the Python extension's API that is used here. */
interface PythonApi {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

export const machine: Machine = {
  isFile: (file) => fs.statSync(file, { throwIfNoEntry: false })?.isFile() ?? false,
  env: process.env,
  platform: process.platform,
  home: os.homedir(),
};

export function workspaceFolder(): string | undefined {
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === "file");
  return folder?.uri.fsPath;
}

export async function findInterpreter(): Promise<string | undefined> {
  const setting = chosenPython();
  if (setting) {
    return expand(setting, workspaceFolder(), machine);
  }
  return (await selectedInterpreter()) ?? workspaceInterpreter(workspaceFolder(), machine);
}

/** What the user has selected in the Python extension, if it is there. */
async function selectedInterpreter(): Promise<string | undefined> {
  const environments = (await pythonApi())?.environments;
  if (!environments) {
    return undefined;
  }
  const resource = vscode.workspace.workspaceFolders?.[0]?.uri;
  const resolved = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(resource));
  return resolved?.executable.uri?.fsPath;
}

/** Calls back when the user selects another interpreter. */
export async function onInterpreterChanged(changed: () => void): Promise<vscode.Disposable | undefined> {
  return (await pythonApi())?.environments?.onDidChangeActiveEnvironmentPath(changed);
}

async function pythonApi(): Promise<PythonApi | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  try {
    return extension && (extension.isActive ? extension.exports : await extension.activate());
  } catch {
    return undefined; // its trouble is told by itself
  }
}
