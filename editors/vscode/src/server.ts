/** The server's process and the client that speaks to it. */

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import {
  LanguageClient,
  LanguageClientOptions,
  RevealOutputChannelOn,
  ServerOptions,
  State,
} from "vscode-languageclient/node";
import { findInterpreter, machine, workspaceFolder } from "./interpreter";
import { locateFullgraph } from "./locate";
import { extensionPath, forServer, SECTION } from "./settings";
import { Status } from "./status";

export class Server implements vscode.Disposable {
  client: LanguageClient | undefined;
  private interpreter: string | undefined;
  private turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly output: vscode.OutputChannel,
    private readonly status: Status,
  ) {}

  /** Start, or start anew. What is asked for while it is under way waits for its turn. */
  restart(): Promise<void> {
    this.turn = this.turn.then(async () => {
      await this.end();
      await this.begin();
    });
    return this.turn;
  }

  stop(): Promise<void> {
    this.turn = this.turn.then(() => this.end());
    return this.turn;
  }

  /** The client, if the server runs; otherwise the user is told why not. */
  running(): LanguageClient | undefined {
    if (this.client?.state === State.Running) {
      return this.client;
    }
    void vscode.window.showWarningMessage("fullgraph: the server is not running; the output says why.");
    return undefined;
  }

  async settingsChanged(): Promise<void> {
    if (this.client?.state === State.Running) {
      await this.client.sendNotification("workspace/didChangeConfiguration", { settings: null });
    }
  }

  dispose(): void {
    void this.stop();
  }

  private async begin(): Promise<void> {
    this.status.starting();
    this.interpreter = await findInterpreter();
    const located = locateFullgraph(extensionPath(), this.interpreter, workspaceFolder(), machine);
    if ("missing" in located) {
      this.tellMissing(located.missing);
      return;
    }
    this.output.appendLine(`${located.command} lsp (${located.found})`);
    const trouble = await whyNoServer(located.command);
    if (trouble) {
      this.tellFailed(`${located.command} is no server: ${trouble}`);
      return;
    }
    this.client = this.makeClient(located.command);
    try {
      await this.client.start();
      this.status.running(located.command, located.found, this.interpreter);
    } catch (error) {
      this.tellFailed(`${located.command} lsp did not start: ${error instanceof Error ? error.message : error}`);
    }
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.needsStop()) {
      await client.stop().catch((error) => this.output.appendLine(`the server did not stop in time: ${error}`));
    }
    await client?.dispose().catch(() => undefined);
  }

  private makeClient(command: string): LanguageClient {
    const cwd = workspaceFolder();
    const run: ServerOptions = { command, args: ["lsp"], ...(cwd ? { options: { cwd } } : {}) };
    const options: LanguageClientOptions = {
      documentSelector: [{ language: "python" }],
      outputChannel: this.output,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: forServer(this.interpreter),
      middleware: {
        workspace: {
          configuration: async (asked, token, next) => {
            const held = await next(asked, token);
            return Array.isArray(held)
              ? held.map((one, at) => (asked.items[at]?.section === SECTION ? forServer(this.interpreter) : one))
              : held;
          },
        },
      },
    };
    const client = new LanguageClient(SECTION, "fullgraph", run, options);
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Stopped && this.client === client) {
        this.status.failed("The server has stopped; the output says why");
      }
    });
    return client;
  }

  private tellMissing(reason: string): void {
    this.output.appendLine(reason);
    this.status.failed(reason);
    const text = `fullgraph: ${reason}. Install it with pipx or uv tool, or set fullgraph.path.`;
    void vscode.window.showErrorMessage(text, "Open Settings").then((answer) => {
      if (answer) {
        void vscode.commands.executeCommand("workbench.action.openSettings", "fullgraph.path");
      }
    });
  }

  private tellFailed(reason: string): void {
    this.output.appendLine(reason);
    this.status.failed(reason);
    void vscode.window.showErrorMessage(`fullgraph: ${reason}`, "Show Output").then((answer) => {
      if (answer) {
        this.output.show();
      }
    });
  }
}

/** What a command says that cannot serve: of another version, or broken. Nothing if it can. */
function whyNoServer(command: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, ["lsp", "--help"], { timeout: 20_000 }, (error, _, said) => {
      resolve(error ? said.trim().split("\n").at(-1) || error.message : "");
    });
  });
}
