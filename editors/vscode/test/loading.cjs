/** Loads the bundle that is packed into the .vsix, with the other VS Code in the place of the real one. */
"use strict";

const Module = require("node:module");
const path = require("node:path");

const vscode = require("./vscode.cjs");
const load = Module._load;
Module._load = function (request, ...rest) {
  return request === "vscode" ? vscode : load.call(this, request, ...rest);
};

module.exports = { vscode, extension: require(path.join(__dirname, "..", "dist", "extension.js")) };
