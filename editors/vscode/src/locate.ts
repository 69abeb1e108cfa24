/** Where things are: the `fullgraph` command and the workspace's interpreter. Knows nothing of VS Code. */

import * as path from "node:path";

/** What is asked of the machine, so that a test can be another one. */
export interface Machine {
  isFile(file: string): boolean;
  env: Record<string, string | undefined>;
  platform: string;
  home: string;
}

export type Located = { command: string; found: string } | { missing: string };

const FOLDERS = [".venv", "venv"];

/** The `fullgraph` command: the setting, else beside the interpreter, else on PATH. */
export function locateFullgraph(
  setting: string,
  interpreter: string | undefined,
  workspace: string | undefined,
  machine: Machine,
): Located {
  if (setting) {
    const command = expand(setting, workspace, machine);
    return machine.isFile(command)
      ? { command, found: "fullgraph.path" }
      : { missing: `there is no file ${command}, which the setting fullgraph.path names` };
  }
  const beside = interpreter && inFolders([path.dirname(interpreter)], machine);
  if (beside) {
    return { command: beside, found: "beside the interpreter" };
  }
  const command = inFolders((machine.env.PATH ?? machine.env.Path ?? "").split(path.delimiter), machine);
  if (command) {
    return { command, found: "PATH" };
  }
  const where = interpreter ? `neither beside ${interpreter} nor on PATH` : "not on PATH";
  return { missing: `the fullgraph command is ${where}` };
}

/** The interpreter of a workspace that nobody has selected: that of an environment in its folder. */
export function workspaceInterpreter(workspace: string | undefined, machine: Machine): string | undefined {
  if (!workspace) {
    return undefined;
  }
  const inside = machine.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"];
  return FOLDERS.map((folder) => path.join(workspace, folder, ...inside)).find((file) => machine.isFile(file));
}

/** `~` and `${workspaceFolder}` stand for folders; what is relative counts from the workspace. */
export function expand(setting: string, workspace: string | undefined, machine: Machine): string {
  const home = setting.replace(/^~(?=$|[\\/])/, () => machine.home);
  const whole = home.replaceAll("${workspaceFolder}", () => workspace ?? "");
  return workspace ? path.resolve(workspace, whole) : whole;
}

function inFolders(folders: string[], machine: Machine): string | undefined {
  const names = machine.platform === "win32" ? ["fullgraph.exe", "fullgraph.cmd"] : ["fullgraph"];
  const files = folders.filter(Boolean).flatMap((folder) => names.map((name) => path.join(folder, name)));
  return files.find((file) => machine.isFile(file));
}
