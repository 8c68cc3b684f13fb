import { spawn } from "node:child_process";
import { type AddressInfo, connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../../../test/support/needs/machine-needs.ts";
import { needs } from "../../../test/support/needs/needs.ts";
import { noFarm } from "../farm/no-farm.ts";
import { fakeBuild } from "../tiered-cache/fake-build.fixture.ts";
import { openCacheWith } from "../tiered-cache/tiered-cache.fixture.ts";
import { ownConnections, userOf } from "./connection-owner.ts";
import { frontOver } from "./front.fixture.ts";

const row = (ends: string, state: string, user: number, inode: number) =>
  `   0: ${ends} ${state} 00000000:00000000 00:00000000 00000000 ${String(user).padStart(5)}        0 ${inode} 1 0 20 4 30 10 -1`;
const there = "0100007F:C350 0100007F:1F90";
const ends = { client: 0xc350, server: 0x1f90 };

test.each<[string, string, number | undefined]>([
  ["of the process that has it open", row(there, "01", 1000, 77), 1000],
  ["of the process that has closed its own side", row(there, "05", 1000, 77), 1000],
  [
    "of no process after it is closed, whatever the table contains",
    row(there, "06", 0, 0),
    undefined,
  ],
  ["not of the server's end", row("0100007F:1F90 0100007F:C350", "01", 1000, 77), undefined],
  [
    "not of another address with these ports",
    row("0200007F:C350 0100007F:1F90", "01", 1000, 77),
    undefined,
  ],
  [
    "of IPv6 that speaks IPv4",
    row(
      "0000000000000000FFFF00000100007F:C350 0000000000000000FFFF00000100007F:1F90",
      "01",
      1000,
      77,
    ),
    1000,
  ],
])("a connection is %s", (_, line, user) => {
  expect(userOf(`  sl  local_address\n${line}\n`, ends)).toBe(user);
});

test("a connection is own if it belongs to the user or root; without kernel tables, every connection is own", async () => {
  const reading = (table: string) => async () => table;
  const of = (user: number) => row(there, "01", user, 77);

  expect(await ownConnections(1000, reading(of(1000)))(ends)).toBe(true);
  expect(await ownConnections(1000, reading(of(0)))(ends)).toBe(true);
  expect(await ownConnections(1000, reading(of(1001)))(ends)).toBe(false);
  expect(await ownConnections(1000, reading(""))(ends)).toBe(false);
  const absent = () => Promise.reject(Object.assign(new Error("none"), { code: "ENOENT" }));
  expect(await ownConnections(1000, absent)(ends)).toBe(true);
});

test("finds this process's own connection in the kernel's tables", async () => {
  const server = createServer((socket) => socket.on("error", () => {}).resume());
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve) => socket.once("connect", resolve));
  const client = socket.localPort ?? 0;

  expect(await ownConnections()({ client, server: port })).toBe(true);
  expect(await ownConnections(process.getuid?.())({ client: 1, server: port })).toBe(false);
});

test(
  "another user of the machine can read, and can write only into a build whose id it knows",
  needs(root),
  async () => {
    const build = fakeBuild();
    const stand = await openCacheWith(noFarm());
    const { port } = await frontOver(stand, { builds: [build] });
    const key = `ab/${"c".repeat(30)}`;
    const put = (path: string, as: number | undefined) =>
      asUser(
        as,
        `exec 3<>/dev/tcp/127.0.0.1/${port}; printf 'PUT ${path} HTTP/1.1\\r\\nhost: 127.0.0.1:${port}\\r\\ncontent-length: 1\\r\\nconnection: close\\r\\n\\r\\nx' >&3; head -1 <&3`,
      );

    expect(await put(`/cache/p/ccache/${key}`, 65_534)).toContain(" 403 ");
    expect(await put(`/build/guessed/cache/p/ccache/${key}`, 65_534)).toContain(" 403 ");
    expect(stand.outbox).toEqual([]);
    expect(await put(`/build/${build.id}/cache/p/ccache/${key}`, 65_534)).toContain(" 200 ");
    expect(await put(`/cache/p/ccache/${key}`, undefined)).toContain(" 200 ");
    expect(stand.outbox).toHaveLength(2);
  },
);

async function asUser(user: number | undefined, script: string): Promise<string> {
  const as = user === undefined ? {} : { uid: user, gid: user };
  const child = spawn("bash", ["-c", script], {
    cwd: "/",
    stdio: ["ignore", "pipe", "ignore"],
    ...as,
  });
  return text(child.stdout);
}
