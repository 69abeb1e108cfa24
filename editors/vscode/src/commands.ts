/** The commands of the palette. The server does their work. */

import * as vscode from "vscode";
import { CodeLens, CodeLensRequest, ExecuteCommandRequest } from "vscode-languageclient/node";
import { Server } from "./server";

/** A lens of the server, whose command it can be asked to run. */
type Proof = CodeLens & { command: NonNullable<CodeLens["command"]> };

export function registerCommands(server: Server, output: vscode.OutputChannel): vscode.Disposable[] {
  const commands: Record<string, () => unknown> = {
    fixFile: () => fix(server, "source.fixAll.fullgraph"),
    fixProject: () => fix(server, "source.fullgraph.project"),
    undoLast: () => undoLast(server),
    proveHere: () => proveHere(server),
    restart: () => server.restart(),
    showOutput: () => output.show(),
  };
  return Object.entries(commands).map(([name, work]) => vscode.commands.registerCommand(`fullgraph.${name}`, work));
}

/** VS Code asks for the action, shows what needs a preview, and applies it. */
async function fix(server: Server, kind: string): Promise<void> {
  if (server.running()) {
    await vscode.commands.executeCommand("editor.action.sourceAction", { kind, apply: "first" });
  }
}

async function undoLast(server: Server): Promise<void> {
  const uri = vscode.window.activeTextEditor?.document.uri.toString();
  await server.running()?.sendRequest(ExecuteCommandRequest.type, {
    command: "fullgraph.undo",
    arguments: uri ? [{ uri }] : [],
  });
}

async function proveHere(server: Server): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const client = editor && server.running();
  if (!client) {
    return;
  }
  const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document);
  const lenses = (await client.sendRequest(CodeLensRequest.type, { textDocument })) ?? [];
  const proof = await choose(nearest(lenses.filter(isProof), editor.selection.active.line));
  if (proof) {
    const { command, arguments: given } = proof.command;
    await client.sendRequest(ExecuteCommandRequest.type, { command, arguments: given ?? [] });
  }
}

function isProof(lens: CodeLens): lens is Proof {
  return lens.command !== undefined;
}

/** The proofs of the last function that begins at or above a line; of a file without one there, all. */
export function nearest(proofs: Proof[], line: number): Proof[] {
  const above = proofs.map((proof) => proof.range.start.line).filter((start) => start <= line);
  const last = Math.max(...above);
  return above.length ? proofs.filter((proof) => proof.range.start.line === last) : proofs;
}

async function choose(proofs: Proof[]): Promise<Proof | undefined> {
  if (proofs.length === 0) {
    const text = "fullgraph: no function here has a scenario. `fullgraph scenario new module:function` writes a first one.";
    void vscode.window.showInformationMessage(text);
  }
  if (proofs.length < 2) {
    return proofs[0];
  }
  const items = proofs.map((proof) => ({ label: proof.command.title, proof }));
  return (await vscode.window.showQuickPick(items, { placeHolder: "Prove with which scenario?" }))?.proof;
}
