/** The packed extension with a real language client against the real `fullgraph lsp`. FULLGRAPH names the command. */
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");

const { vscode, extension } = require("./loading.cjs");
const { state, events, until, open, type, runAction } = vscode.test;

const FULLGRAPH = process.env.FULLGRAPH;
const TEXT = `import torch


@torch._dynamo.disable
def one(x):
    return x, "🔥", torch._dynamo.is_compiling()
`;

function project(files) {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "fullgraph-vscode-")));
  for (const [name, text] of Object.entries({ "pyproject.toml": "[project]\nname = 'x'\n", ...files })) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  return root;
}

function applied(root, place) {
  const run = { cwd: root, input: fs.readFileSync(path.join(root, "a.py")), encoding: "utf8" };
  return execFileSync(FULLGRAPH, ["at", place, "--stdin", "--apply", "1"], run);
}

/** Activates the extension in a project, and ends it with the test. */
async function start(t, files, settings = { "fullgraph.path": FULLGRAPH }) {
  const root = project(files);
  const context = { subscriptions: [] };
  state.settings = settings;
  state.messages.length = 0;
  state.output.length = 0;
  vscode.workspace.workspaceFolders = [{ uri: vscode.Uri.file(root), name: "root", index: 0 }];
  t.after(async () => {
    await extension.deactivate();
    context.subscriptions.forEach((one) => one.dispose());
    state.documents.length = 0;
    fs.rmSync(root, { recursive: true, force: true });
  });
  await extension.activate(context);
  return root;
}

function diagnostics(document, count) {
  return until(() => {
    const found = (state.diagnostics.get(`${document.uri}`) ?? []).filter((one) => one.source === "fullgraph");
    return found.length === count && [...found].sort((a, b) => a.range.start.line - b.range.start.line);
  });
}

const status = () => state.items.at(-1);

test("findings arrive, count in UTF-16 units, and follow what is typed", async (t) => {
  const root = await start(t, { "a.py": TEXT });
  assert.match(status().text, /check/);
  const document = open(path.join(root, "a.py"));
  const [, second] = await diagnostics(document, 2);
  assert.deepEqual([second.range.start.line, second.range.start.character], [5, 20]);
  type(document, TEXT.replace("torch._dynamo.disable", "torch.compiler.disable"));
  await diagnostics(document, 1);
});

test("every command that the palette offers is there", async (t) => {
  await start(t, { "a.py": TEXT });
  const { contributes } = require("../package.json");
  assert.deepEqual(contributes.commands.filter(({ command }) => !state.commands.has(command)), []);
  await vscode.commands.executeCommand("fullgraph.showOutput");
  assert.equal(state.output.at(-1), "<shown>");
});

test("a quick fix gives the text that the command line gives, and undo takes it back", async (t) => {
  const root = await start(t, { "a.py": TEXT });
  const document = open(path.join(root, "a.py"));
  const [, second] = await diagnostics(document, 2);
  await runAction(document, second.range, "quickfix");
  assert.equal(document.getText(), applied(root, "a.py:6"));
  await diagnostics(document, 1);
  await vscode.commands.executeCommand("fullgraph.undoLast");
  assert.equal(document.getText(), TEXT);
});

test("fix all fixes the file as `fix --yes` does", async (t) => {
  const root = await start(t, { "a.py": TEXT });
  const document = open(path.join(root, "a.py"));
  await diagnostics(document, 2);
  await vscode.commands.executeCommand("fullgraph.fixFile");
  execFileSync(FULLGRAPH, ["fix", "--yes", "-q", "--no-cache", "a.py"], { cwd: root });
  assert.equal(document.getText(), fs.readFileSync(path.join(root, "a.py"), "utf8"));
  assert.notEqual(document.getText(), TEXT);
});

test("settings of the editor reach the server, and those of the extension do not", async (t) => {
  const root = await start(t, { "a.py": TEXT });
  const document = open(path.join(root, "a.py"));
  await diagnostics(document, 2);
  state.settings = { ...state.settings, "fullgraph.ignore": ["use_public_compiler_api"] };
  events.configuration.fire({ affectsConfiguration: (name) => name === "fullgraph" || name === "fullgraph.ignore" });
  await diagnostics(document, 0);
  assert.deepEqual(state.messages, []);
});

test("a restart begins anew with the texts as they are", async (t) => {
  const root = await start(t, { "a.py": TEXT });
  const document = open(path.join(root, "a.py"));
  await diagnostics(document, 2);
  type(document, TEXT.replace("torch._dynamo.disable", "torch.compiler.disable"));
  await diagnostics(document, 1);
  await vscode.commands.executeCommand("fullgraph.restart");
  assert.equal(state.output.filter((line) => / lsp \(/.test(line)).length, 2);
  await diagnostics(document, 1);
});

test("a function without a scenario is told about scenarios", async (t) => {
  const root = await start(t, { "a.py": TEXT });
  const document = open(path.join(root, "a.py"));
  await diagnostics(document, 2);
  await vscode.commands.executeCommand("fullgraph.proveHere");
  assert.match(state.messages.at(-1).text, /scenario new/);
});

test("a scenario's proof is asked of the server", async (t) => {
  const scenario = "from a import one\n\n\ndef build(device):\n    return one\n\n\ndef cases(device, seed):\n    yield (1,)\n";
  const settings = { "fullgraph.path": FULLGRAPH, "fullgraph.python": process.execPath };
  const root = await start(t, { "a.py": TEXT, "scenarios/one.py": scenario }, settings);
  const document = open(path.join(root, "a.py"));
  await diagnostics(document, 2);
  await vscode.commands.executeCommand("fullgraph.proveHere");
  const told = await until(() =>
    state.messages.find((one) => /undecided/.test(one.text)) ??
    state.diagnostics.get(`${document.uri}`)?.find((one) => /undecided/.test(one.message)));
  assert.ok(told, "an interpreter without torch decides nothing");
});

test("without fullgraph one message says so and names the setting", async (t) => {
  const root = await start(t, { "a.py": TEXT }, { "fullgraph.path": "${workspaceFolder}/none/fullgraph" });
  assert.equal(state.messages.length, 1);
  assert.equal(state.messages[0].kind, "error");
  assert.match(state.messages[0].text, new RegExp(`there is no file ${root}/none/fullgraph.*set fullgraph.path`));
  assert.match(status().text, /error/);
  await vscode.commands.executeCommand("fullgraph.undoLast");
  assert.match(state.messages.at(-1).text, /not running/);
  state.settings = { "fullgraph.path": FULLGRAPH };
  events.configuration.fire({ affectsConfiguration: (name) => name.startsWith("fullgraph") });
  await until(() => /check/.test(status().text));
});

test("a command that is no server is told with its own words", async (t) => {
  const root = project({ old: "#!/bin/sh\necho \"Error: No such command 'lsp'.\" >&2\nexit 2\n" });
  fs.chmodSync(path.join(root, "old"), 0o755);
  t.after(() => fs.rmSync(root, { recursive: true }));
  await start(t, { "a.py": TEXT }, { "fullgraph.path": path.join(root, "old") });
  assert.deepEqual(state.messages.map((one) => one.kind), ["error"]);
  assert.match(state.messages[0].text, /old is no server: Error: No such command 'lsp'/);
  assert.match(status().text, /error/);
});

test("the interpreter that the Python extension has selected is the one for proofs", async (t) => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "fullgraph-env-")));
  fs.symlinkSync(FULLGRAPH, path.join(folder, "fullgraph"));
  const uri = vscode.Uri.file(path.join(folder, "python"));
  state.extensions["ms-python.python"] = {
    isActive: true,
    exports: {
      environments: {
        getActiveEnvironmentPath: () => ({ path: "any" }),
        resolveEnvironment: async () => ({ executable: { uri } }),
        onDidChangeActiveEnvironmentPath: () => ({ dispose: () => undefined }),
      },
    },
  };
  t.after(() => { delete state.extensions["ms-python.python"]; fs.rmSync(folder, { recursive: true }); });
  await start(t, { "a.py": TEXT }, {});
  assert.match(status().tooltip, new RegExp(`${folder}/fullgraph \\(beside the interpreter\\)\nProofs run under ${folder}/python`));
});
