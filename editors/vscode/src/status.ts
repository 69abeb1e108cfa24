/** The item in the status bar: whether the server runs, and what is wrong if it does not. */

import * as vscode from "vscode";

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("fullgraph", vscode.StatusBarAlignment.Right, 0);

  constructor() {
    this.item.name = "fullgraph";
    this.item.command = "fullgraph.showOutput";
  }

  starting(): void {
    this.show("$(loading~spin) fullgraph", "fullgraph is starting");
  }

  running(command: string, found: string, interpreter: string | undefined): void {
    const proofs = interpreter ? `Proofs run under ${interpreter}` : "Proofs run under the project's own interpreter";
    this.show("$(check) fullgraph", `${command} (${found})\n${proofs}`);
  }

  failed(reason: string): void {
    this.show("$(error) fullgraph", reason, new vscode.ThemeColor("statusBarItem.errorBackground"));
  }

  private show(text: string, tooltip: string, background?: vscode.ThemeColor): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.backgroundColor = background;
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }
}
