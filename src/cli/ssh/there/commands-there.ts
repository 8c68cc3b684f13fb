import { realpathSync } from "node:fs";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { messageOf } from "#core/fault.ts";
import { exitCodes } from "../../exit-code.ts";
import { WorkerSettings } from "../worker-settings.ts";
import { startDetached } from "./start-detached.ts";
import { statusOfDetached } from "./status-of-detached.ts";
import { stopDetached } from "./stop-detached.ts";
import { WorkerFolder } from "./worker-folder.ts";

/** The last line of the answer; a shell's startup files may print lines before it. */
export const answerMark = "grange-answer:";

/** The commands that `grange worker --ssh` calls on the other machine. Each prints one line of JSON. */
export function describeThere(program: Command): void {
  const hidden = { hidden: true };
  program.command("start <directory>", hidden).action((directory: string) =>
    answering(async () => {
      const settings = WorkerSettings.parse(JSON.parse(await text(process.stdin)));
      // The real path: a symlink may later point to another file, while the process does not change.
      return startDetached(directory, realpathSync(process.argv[1] ?? ""), settings);
    }),
  );
  program
    .command("point <directory> <name> <server>", hidden)
    .action((directory: string, name: string, server: string) =>
      answering(async () => {
        const folder = new WorkerFolder(directory, name);
        if ((await folder.running()) === undefined) return { kind: "absent" };
        await folder.keepServer(server);
        return { kind: "pointed" };
      }),
    );
  program
    .command("stop <directory> <name>", hidden)
    .action((directory: string, name: string) => answering(() => stopDetached(directory, name)));
  program
    .command("status <directory> <name>", hidden)
    .action((directory: string, name: string) =>
      answering(() => statusOfDetached(directory, name)),
    );
}

async function answering(work: () => Promise<object>): Promise<void> {
  let answer: object;
  try {
    answer = await work();
  } catch (reason) {
    answer = { error: messageOf(reason) };
    process.exitCode = exitCodes.failed;
  }
  process.stdout.write(`${answerMark}${JSON.stringify(answer)}\n`);
}
