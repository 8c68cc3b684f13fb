import { Command } from "commander";
import { commandList } from "#cli/command-list.ts";

/** Returns why the program would refuse the words before it does anything; undefined when it takes them. */
export async function refusal(words: readonly string[]): Promise<string | undefined> {
  const [name = "", ...rest] = words;
  if (/^(--help|-h|--version|-V|help)?$/.test(name)) return undefined;
  const listed = commandList[name];
  if (listed === undefined) return `there is no command ${name}`;
  const command = new Command("grange").createCommand(name);
  (await listed.load())(command, { entry: "", version: "0" });
  const problems: string[] = [];
  disarm(command, problems);
  try {
    await command.parseAsync(rest, { from: "user" });
  } catch (reason) {
    const isHelp = rest.includes("--help") || rest.includes("-h");
    if (!isHelp) return problems.join("").trim() || String(reason);
  }
  return undefined;
}

/** A command that does nothing, and throws instead of ending this process. */
function disarm(command: Command, problems: string[]): void {
  command.exitOverride().configureOutput({
    writeOut: () => {},
    writeErr: (text) => void problems.push(text),
  });
  // A group without an action refuses to be called by itself; some groups have one, such as `worker`.
  if (hasAction(command)) command.action(() => {});
  for (const part of command.commands) disarm(part, problems);
}

/** Commander has no public way to ask this. */
function hasAction(command: Command): boolean {
  return typeof Reflect.get(command, "_actionHandler") === "function";
}
