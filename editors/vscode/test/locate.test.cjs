/** Where `fullgraph` and the interpreter are looked for, on machines that are not this one. */
"use strict";

const assert = require("node:assert/strict");
const { buildSync } = require("esbuild");
const path = require("node:path");
const test = require("node:test");

function load(file) {
  const entryPoints = [path.join(__dirname, "..", "src", file)];
  const [{ text }] = buildSync({ entryPoints, bundle: true, platform: "node", format: "cjs", write: false }).outputFiles;
  const module = { exports: {} };
  new Function("module", "exports", "require", text)(module, module.exports, require);
  return module.exports;
}

const { locateFullgraph, workspaceInterpreter, expand } = load("locate.ts");

const machine = (...files) => ({
  isFile: (file) => files.includes(file),
  env: { PATH: "/usr/bin:/opt/bin" },
  platform: "linux",
  home: "/home/me",
});

test("the setting comes first, and a wrong one is not passed over", () => {
  const all = machine("/mine/fullgraph", "/w/.venv/bin/fullgraph", "/usr/bin/fullgraph");
  assert.equal(locateFullgraph("/mine/fullgraph", "/w/.venv/bin/python", "/w", all).command, "/mine/fullgraph");
  assert.match(locateFullgraph("/none", "/w/.venv/bin/python", "/w", all).missing, /no file \/none.*fullgraph\.path/);
});

test("then beside the interpreter, then on PATH", () => {
  const all = machine("/w/.venv/bin/fullgraph", "/opt/bin/fullgraph");
  assert.equal(locateFullgraph("", "/w/.venv/bin/python", "/w", all).command, "/w/.venv/bin/fullgraph");
  assert.equal(locateFullgraph("", "/other/bin/python", "/w", all).command, "/opt/bin/fullgraph");
  assert.equal(locateFullgraph("", undefined, undefined, all).command, "/opt/bin/fullgraph");
});

test("nowhere: it says where was looked", () => {
  assert.match(locateFullgraph("", "/w/bin/python", "/w", machine()).missing, /neither beside \/w\/bin\/python nor on PATH/);
  assert.match(locateFullgraph("", undefined, "/w", machine()).missing, /not on PATH/);
});

test("a workspace's own environment is its interpreter", () => {
  const python = "/w/venv/bin/python";
  assert.equal(workspaceInterpreter("/w", machine(python)), python);
  assert.equal(workspaceInterpreter("/w", machine(python, "/w/.venv/bin/python")), "/w/.venv/bin/python");
  assert.equal(workspaceInterpreter("/w", machine()), undefined);
  assert.equal(workspaceInterpreter(undefined, machine(python)), undefined);
});

test("the home and the workspace may be written as such, and a relative path counts from the workspace", () => {
  assert.equal(expand("~/bin/fullgraph", "/w", machine()), "/home/me/bin/fullgraph");
  assert.equal(expand("${workspaceFolder}/env/fullgraph", "/w", machine()), "/w/env/fullgraph");
  assert.equal(expand("env/fullgraph", "/w", machine()), "/w/env/fullgraph");
  assert.equal(expand("/a~/fullgraph", "/w", machine()), "/a~/fullgraph");
});
