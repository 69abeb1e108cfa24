/** Starts the server when a Python file is opened, and again when the user changes where it is. */

import * as vscode from "vscode";
import { registerCommands } from "./commands";
import { onInterpreterChanged } from "./interpreter";
import { Server } from "./server";
import { needsRestart, SECTION } from "./settings";
import { Status } from "./status";

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("fullgraph");
  const status = new Status();
  const started = new Server(output, status);
  server = started;
  context.subscriptions.push(output, status, started, ...registerCommands(started, output));
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (needsRestart(event)) {
        void started.restart();
      } else if (event.affectsConfiguration(SECTION)) {
        void started.settingsChanged();
      }
    }),
  );
  await started.restart();
  const watching = await onInterpreterChanged(() => void started.restart());
  context.subscriptions.push(...(watching ? [watching] : []));
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}
