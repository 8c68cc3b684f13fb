import { readFile } from "node:fs/promises";
import { coalescer } from "#core/coalescer.ts";

/** A loopback connection, identified by the ports of both ends. */
interface Ends {
  readonly client: number;
  readonly server: number;
}

/** Returns whether a loopback connection belongs to the user of this process, or to root. */
export type IsOwn = (ends: Ends) => Promise<boolean>;

/** The message to other users that write. */
export const notOwn =
  "this granary belongs to another user of this machine, and accepts only results of that user's builds";

/** Java uses IPv6 sockets even for IPv4. */
const tables = ["/proc/net/tcp", "/proc/net/tcp6"];

/**
 * Looks connections up in the kernel's tables.
 *
 * Reading a table of a few hundred connections takes 1 to 20 ms, and callers during that time share the next read. So
 * it is used for writes of tools, not for reads. Where there are no such tables (macOS), all connections count as own.
 */
export function ownConnections(
  ownUser = process.getuid?.(),
  read: (table: string) => Promise<string> = (table) => readFile(table, "latin1"),
): IsOwn {
  const looking = coalescer<Ends, boolean>(async (all) => {
    const texts = await Promise.all(
      tables.map((table) => read(table).catch((reason: unknown) => absentOr(reason))),
    );
    const isTold = texts.some((text) => text !== undefined);
    return all.map((ends) => {
      if (!isTold || ownUser === undefined) return true;
      const user = userOf(texts.join("\n"), ends);
      return user === ownUser || user === 0;
    });
  });
  // A table that changes while it is read may leave out a line.
  return async (ends) => (await looking.add(ends)) || looking.add(ends);
}

/**
 * Returns the user who has the client's end open, from a table like `/proc/net/tcp`; undefined when there is none.
 *
 * A closed end stays in the table for a while as root's: without an inode it belongs to no user.
 */
export function userOf(table: string, { client, server }: Ends): number | undefined {
  const line = new RegExp(
    `: (?:${loopback}):${hex(client)} (?:${loopback}):${hex(server)} ` +
      String.raw`[0-9A-F]{2} \S+ \S+ \S+ +(\d+) +\d+ (\d+)`,
  ).exec(table);
  const [, user, inode] = line ?? [];
  return inode === undefined || inode === "0" ? undefined : Number(user);
}

/** 127.0.0.1 as little-endian machines print it, alone or inside an IPv6 address. */
const loopback = "(?:0000000000000000FFFF0000)?0100007F";

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

function absentOr(reason: unknown): undefined {
  const code = reason instanceof Error && "code" in reason ? reason.code : undefined;
  if (code !== "ENOENT") throw reason;
}
