/**
 * As much of VS Code as the extension and its language client need, without a window.
 *
 * Texts, edits, diagnostics, commands, settings and messages are real enough to be looked at. Everything else that is
 * asked for is a class that can be extended, or a function that returns something to dispose of.
 */
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");

class Disposable {
  constructor(work = () => undefined) { this.work = work; }
  static from(...all) { return new Disposable(() => all.forEach((one) => one.dispose())); }
  dispose() { this.work(); }
}

class EventEmitter {
  constructor() {
    this.listeners = new Set();
    this.event = (listener, self, all) => {
      const bound = listener.bind(self);
      this.listeners.add(bound);
      const found = new Disposable(() => this.listeners.delete(bound));
      all?.push(found);
      return found;
    };
  }
  fire(value) { [...this.listeners].forEach((listener) => listener(value)); }
  dispose() { this.listeners.clear(); }
}

class CancellationTokenSource {
  constructor() {
    this.emitter = new EventEmitter();
    this.token = { isCancellationRequested: false, onCancellationRequested: this.emitter.event };
  }
  cancel() { this.token.isCancellationRequested = true; this.emitter.fire(); }
  dispose() {}
}

class Uri {
  constructor(text) {
    const url = new URL(text);
    this.text = text;
    this.scheme = url.protocol.slice(0, -1);
    this.path = decodeURIComponent(url.pathname);
    this.fsPath = this.scheme === "file" ? fileURLToPath(url) : this.path;
    this.authority = url.host;
  }
  static parse(text) { return new Uri(text); }
  static file(file) { return new Uri(pathToFileURL(file).href); }
  toString() { return this.text; }
  toJSON() { return this.text; }
  with() { return this; }
}

class Position {
  constructor(line, character) { this.line = line; this.character = character; }
}

class Range {
  constructor(a, b, c, d) {
    [this.start, this.end] = typeof a === "number" ? [new Position(a, b), new Position(c, d)] : [a, b];
  }
}

class Diagnostic {
  constructor(range, message, severity) { Object.assign(this, { range, message, severity }); }
}

class CodeActionKind {
  constructor(value) { this.value = value; }
  append(more) { return new CodeActionKind(this.value ? `${this.value}.${more}` : more); }
  contains(other) { return other.value === this.value || other.value.startsWith(`${this.value}.`); }
}
CodeActionKind.Empty = new CodeActionKind("");
for (const [name, value] of Object.entries({
  QuickFix: "quickfix", Refactor: "refactor", RefactorExtract: "refactor.extract", RefactorInline: "refactor.inline",
  RefactorRewrite: "refactor.rewrite", Source: "source", SourceOrganizeImports: "source.organizeImports",
})) {
  CodeActionKind[name] = new CodeActionKind(value);
}

class CodeAction {
  constructor(title, kind) { this.title = title; this.kind = kind; }
}

class TextEdit {
  constructor(range, newText) { this.range = range; this.newText = newText; }
  static replace(range, text) { return new TextEdit(range, text); }
  static insert(at, text) { return new TextEdit(new Range(at, at), text); }
  static delete(range) { return new TextEdit(range, ""); }
}

/** Keeps the steps in order; only what the server sends is known. */
class WorkspaceEdit {
  constructor() { this.steps = []; }
  replace(uri, range, newText, metadata) { this.steps.push({ uri, edits: [new TextEdit(range, newText)], metadata }); }
  insert(uri, at, newText, metadata) { this.replace(uri, new Range(at, at), newText, metadata); }
  delete(uri, range, metadata) { this.replace(uri, range, "", metadata); }
  set(uri, edits) { this.steps.push({ uri, edits: edits.map((edit) => (Array.isArray(edit) ? edit[0] : edit)) }); }
  createFile(uri) { this.steps.push({ uri, create: true }); }
  deleteFile(uri) { this.steps.push({ uri, remove: true }); }
}

/** A text in an editor; a character is a UTF-16 unit, as in VS Code. */
class TextDocument {
  constructor(uri, text) {
    Object.assign(this, { uri, text, version: 1, languageId: "python", isClosed: false, isUntitled: false, eol: 1 });
    this.fileName = uri.fsPath;
  }
  getText() { return this.text; }
  get lineStarts() { return [0, ...[...this.text.matchAll(/\r\n|\r|\n/g)].map((found) => found.index + found[0].length)]; }
  offsetAt(at) { return at.line < this.lineStarts.length ? this.lineStarts[at.line] + at.character : this.text.length; }
}

const state = {
  settings: {},
  documents: [],
  commands: new Map(),
  diagnostics: new Map(),
  messages: [],
  output: [],
  items: [],
  providers: [],
  extensions: {},
  waiting: [],
};

const events = Object.fromEntries(
  ["open", "change", "close", "save", "configuration"].map((name) => [name, new EventEmitter()]),
);

/** Lets everybody who waits look again. */
function changed() {
  state.waiting.splice(0).forEach((look) => look());
}

/** Resolves with the first value that is something. */
async function until(ask, patience = 20000) {
  const limit = Date.now() + patience;
  for (;;) {
    const found = ask();
    if (found) return found;
    if (Date.now() > limit) throw new Error(`waited in vain\n${state.output.join("")}${JSON.stringify(state.messages)}`);
    await new Promise((resolve) => { state.waiting.push(resolve); setTimeout(resolve, 100); });
  }
}

function open(file) {
  const document = new TextDocument(Uri.file(file), fs.readFileSync(file, "utf8"));
  state.documents.push(document);
  window.activeTextEditor = { document, selection: { active: new Position(0, 0) } };
  events.open.fire(document);
  return document;
}

function type(document, text) {
  const last = document.lineStarts.length - 1;
  const end = new Position(last, document.text.length - document.lineStarts[last]);
  const contentChanges = [{ range: new Range(new Position(0, 0), end), rangeOffset: 0, rangeLength: document.text.length, text }];
  document.text = text;
  document.version += 1;
  events.change.fire({ document, contentChanges });
}

function spliced(document, edits) {
  const spans = edits.map((edit) => [document.offsetAt(edit.range.start), document.offsetAt(edit.range.end), edit.newText]);
  const ordered = spans.map((span, at) => [...span, at]).sort((a, b) => b[0] - a[0] || b[3] - a[3]);
  return ordered.reduce((text, [start, end, newText]) => text.slice(0, start) + newText + text.slice(end), document.text);
}

async function applyEdit(edit) {
  const by = new Map();
  for (const { uri, edits = [] } of edit.steps) by.set(`${uri}`, [...(by.get(`${uri}`) ?? []), ...edits]);
  for (const [uri, edits] of by) {
    const document = state.documents.find((one) => `${one.uri}` === uri);
    if (!document) return false;
    if (edits.length) type(document, spliced(document, edits));
  }
  return true;
}

/** What VS Code does for `editor.action.sourceAction` and for a chosen quick fix. */
async function runAction(document, range, kind) {
  const token = new CancellationTokenSource().token;
  const context = { diagnostics: [], only: new CodeActionKind(kind), triggerKind: 1 };
  for (const { provider } of state.providers) {
    const offered = await provider.provideCodeActions(document, range, context, token);
    const action = offered?.[0] && (await provider.resolveCodeAction(offered[0], token));
    if (!action) continue;
    if (action.edit) await applyEdit(action.edit);
    if (action.command) await commands.executeCommand(action.command.command, ...(action.command.arguments ?? []));
    return action;
  }
  return undefined;
}

const commands = {
  registerCommand(name, work) {
    if (state.commands.has(name)) throw new Error(`command '${name}' already exists`);
    state.commands.set(name, work);
    return new Disposable(() => state.commands.delete(name));
  },
  async executeCommand(name, ...given) {
    if (name === "editor.action.sourceAction") {
      const { document } = window.activeTextEditor;
      return runAction(document, new Range(0, 0, 0, 0), given[0].kind);
    }
    if (!state.commands.has(name)) throw new Error(`command '${name}' not found`);
    return state.commands.get(name)(...given);
  },
};

function say(kind) {
  return (text, ...buttons) => {
    state.messages.push({ kind, text });
    changed();
    return Promise.resolve(undefined, buttons);
  };
}

const window = {
  activeTextEditor: undefined,
  visibleTextEditors: [],
  tabGroups: { all: [], onDidChangeTabs: new EventEmitter().event },
  createOutputChannel: (name) => ({
    name,
    append: (text) => state.output.push(text),
    appendLine: (text) => state.output.push(`${text}\n`),
    show: () => state.output.push("<shown>"),
    clear: () => undefined,
    dispose: () => undefined,
  }),
  createStatusBarItem() {
    const item = { show: changed, hide: () => undefined, dispose: () => { item.isDisposed = true; } };
    state.items.push(item);
    return item;
  },
  showInformationMessage: say("information"),
  showWarningMessage: say("warning"),
  showErrorMessage: say("error"),
  showQuickPick: async (items) => (await items)[0],
  withProgress: (_, work) => work({ report: () => undefined }, new CancellationTokenSource().token),
};

const workspace = {
  get textDocuments() { return state.documents; },
  notebookDocuments: [],
  workspaceFolders: [],
  isTrusted: true,
  onDidOpenTextDocument: events.open.event,
  onDidChangeTextDocument: events.change.event,
  onDidCloseTextDocument: events.close.event,
  onDidSaveTextDocument: events.save.event,
  onDidChangeConfiguration: events.configuration.event,
  getConfiguration: (section) => ({
    get: (key, usual) => state.settings[`${section ? `${section}.` : ""}${key}`] ?? usual,
    has: (key) => `${section}.${key}` in state.settings,
    inspect: () => undefined,
  }),
  getWorkspaceFolder: () => workspace.workspaceFolders[0],
  createFileSystemWatcher: () => ({
    onDidCreate: new EventEmitter().event,
    onDidChange: new EventEmitter().event,
    onDidDelete: new EventEmitter().event,
    dispose: () => undefined,
  }),
  applyEdit,
};

const languages = {
  createDiagnosticCollection: () => ({
    set: (uri, found) => { state.diagnostics.set(`${uri}`, found); changed(); },
    delete: (uri) => state.diagnostics.delete(`${uri}`),
    get: (uri) => state.diagnostics.get(`${uri}`),
    clear: () => state.diagnostics.clear(),
    dispose: () => state.diagnostics.clear(),
  }),
  match: (selector, document) => (selector.some((one) => !one.notebook && (one.language ?? one) === document.languageId) ? 10 : 0),
  registerCodeActionsProvider(selector, provider) {
    const held = { selector, provider };
    state.providers.push(held);
    return new Disposable(() => state.providers.splice(state.providers.indexOf(held), 1));
  },
};

/** Whatever nobody has written down: a function, a class, an event and a number at once. */
function stub(name) {
  class Stub {
    constructor(...given) { Object.assign(this, { given }); }
  }
  Object.defineProperty(Stub, "name", { value: name });
  return new Proxy(Stub, {
    apply: () => new Disposable(),
    get: (target, key) => (key in target || typeof key === "symbol" ? target[key] : 0),
  });
}

function filled(known) {
  return new Proxy(known, {
    get(target, key) {
      if (!(key in target) && typeof key === "string" && key !== "then") target[key] = stub(key);
      return target[key];
    },
  });
}

module.exports = filled({
  version: "1.82.0",
  env: filled({ appName: "test", language: "en", isTelemetryEnabled: false }),
  extensions: { getExtension: (name) => state.extensions[name], onDidChange: new EventEmitter().event },
  commands: filled(commands),
  window: filled(window),
  workspace: filled(workspace),
  languages: filled(languages),
  Disposable, EventEmitter, CancellationTokenSource, Uri, Position, Range, Diagnostic, CodeActionKind, CodeAction,
  TextEdit, WorkspaceEdit,
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  DiagnosticTag: { Unnecessary: 1, Deprecated: 2 },
  CodeActionTriggerKind: { Invoke: 1, Automatic: 2 },
  StatusBarAlignment: { Left: 1, Right: 2 },
  ThemeColor: class { constructor(id) { this.id = id; } },
  test: { state, events, until, open, type, runAction, path },
});
