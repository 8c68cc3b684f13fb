import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import type { Command } from "commander";
import { messageOf } from "#core/fault.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { timeText } from "../terminal/time-text.ts";
import { UsageError } from "../usage-error.ts";

interface PlaceOptions extends CommonOptions {
  readonly repository: string;
  readonly branch: string;
}

interface SetOptions extends PlaceOptions {
  readonly file?: string;
  readonly users?: string;
}

export const describeSecret: Describe = (command) => {
  describeSet(command);
  describeList(command);
  describeRemove(command);
  withExamples(command, [
    [
      "store a secret for release branches; the value is read from stdin",
      "secret set NPM_TOKEN --repository rxjs --branch 'release/*' < token",
    ],
    ["list secrets, without their values", "secret list"],
    [
      "remove a secret: no run gets it any more",
      "secret remove NPM_TOKEN --repository rxjs --branch 'release/*'",
    ],
  ]);
};

function atPlace(command: Command): Command {
  return speaksToServer(command)
    .requiredOption("--repository <pattern>", "repositories, where * stands for anything")
    .requiredOption("--branch <pattern>", "branches, where * stands for anything");
}

function describeSet(command: Command): void {
  atPlace(command.command("set <name>"))
    .description("store a secret, or a new value of it; runs on these branches get it")
    .option(
      "--file <file>",
      "a file that contains exactly the value (default: stdin, without the last line break)",
    )
    .option("--users <pattern>", "users whose own runs also get it (default: none)")
    .action((name: string, { repository, branch, ...options }: SetOptions) =>
      inSession(options, async (session) => {
        const { secretEndpoints } = await import("#api/endpoints/secret-endpoints.ts");
        const bytes = await valueOf(options.file);
        const secret = await session.api.call(secretEndpoints.setSecret, {
          body: {
            name,
            repository,
            branch,
            users: options.users ?? null,
            value: bytes.toString("base64"),
          },
        });
        return answer(session, options, secret, () => [
          `${secret.name} is stored, version ${secret.version}, for ${printableLine(secret.branch)} of ${printableLine(secret.repository)}.`,
        ]);
      }),
    );
}

function describeList(command: Command): void {
  speaksToServer(command.command("list"))
    .description("list secrets; the farm never shows their values")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const { secretEndpoints } = await import("#api/endpoints/secret-endpoints.ts");
        const secrets = await session.api.call(secretEndpoints.secrets, {});
        return answer(session, options, secrets, () =>
          tableLines([
            ["name", "repository", "branch", "users", "version", "set", "by"],
            ...secrets.map((secret) => [
              secret.name,
              printableLine(secret.repository),
              printableLine(secret.branch),
              secret.users === null ? "-" : printableLine(secret.users),
              String(secret.version),
              timeText(secret.setAt),
              secret.setBy,
            ]),
          ]),
        );
      }),
    );
}

function describeRemove(command: Command): void {
  atPlace(command.command("remove <name>"))
    .description("remove a secret; patterns must be the same as in `secret set`")
    .action((name: string, { repository, branch, ...options }: PlaceOptions) =>
      inSession(options, async (session) => {
        const { secretEndpoints } = await import("#api/endpoints/secret-endpoints.ts");
        const gone = await session.api.call(secretEndpoints.removeSecret, {
          body: { name, repository, branch },
        });
        return answer(session, options, gone, () => [`${name} is removed.`]);
      }),
    );
}

/** Never an argument, because arguments are visible in the shell's history and in every list of processes. */
async function valueOf(file: string | undefined): Promise<Buffer> {
  if (file === undefined) {
    if (process.stdin.isTTY) {
      throw new UsageError("send the value to stdin, or name a file that holds it with --file");
    }
    const bytes = await buffer(process.stdin);
    return bytes.at(-1) === 0x0a ? bytes.subarray(0, bytes.at(-2) === 0x0d ? -2 : -1) : bytes;
  }
  try {
    return await readFile(file);
  } catch (reason) {
    throw new UsageError(`${file} cannot be read: ${messageOf(reason)}`);
  }
}
