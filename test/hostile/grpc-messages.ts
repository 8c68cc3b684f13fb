import assert from "node:assert/strict";
import { once } from "node:events";
import { constants } from "node:http2";
import { connect } from "node:net";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { PublishBuildEvent } from "#proto/google/devtools/build/v1/publish_build_event_pb.ts";
import { Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import { hostileMessages } from "../build-tools/hostile-messages.ts";
import { frameOf } from "../build-tools/hostile-target.ts";
import type { HostileCase, HostileSuite } from "./case.ts";
import { call, flood, session } from "./grpc-floods.ts";
import { type HostileFarm } from "./hostile-farm.ts";
import { isOneOf, tried } from "./known-attacks.ts";
import { openFarm } from "./open-farm.ts";

const { findMissingBlobs } = ContentAddressableStorage.method;
const { register, claim } = Workers.method;

/** Returns a field of bytes. */
const field = (number: number, value: Uint8Array | string) =>
  new BinaryWriter()
    .tag(number, WireType.LengthDelimited)
    .bytes(typeof value === "string" ? Buffer.from(value) : value)
    .finish();

/** Returns an Any in an Any in an Any … */
function anyInAny(levels: number): Uint8Array {
  let inner: Uint8Array = Buffer.of();
  for (let n = 0; n < levels; n++) {
    inner = Buffer.concat([
      field(1, "type.googleapis.com/google.protobuf.Any"),
      field(2, inner.subarray(0, 60_000)),
    ]);
  }
  return inner;
}

const more: readonly HostileCase<HostileFarm>[] = [
  {
    name: "an Any 1,000 deep as a build event",
    async run({ raw }) {
      const event = frameOf(field(4, field(3, field(60, anyInAny(1_000)))));
      const method = PublishBuildEvent.method.publishBuildToolEventStream;
      isOneOf(await raw(method, [event]), "invalid_argument", "internal", "aborted");
    },
  },
  {
    name: "a platform with the keys __proto__, constructor and toString",
    async run({ raw }) {
      const entry = (key: string) =>
        field(3, Buffer.concat([field(1, key), field(2, "polluted by a worker")]));
      const told = Buffer.concat([
        field(1, "proto-worker"),
        field(2, "00000000-0000-4000-8000-000000000001"),
        entry("__proto__"),
        entry("constructor"),
        entry("toString"),
        Buffer.from([5 << 3, 1]),
      ]);
      isOneOf(await raw(register, [frameOf(told)]), "ok", "invalid_argument");
    },
  },
  {
    name: "no keys of a map became a property of all objects",
    async run({ ask }) {
      const { text } = await ask("/server");
      assert.equal(text.includes("polluted"), false);
    },
  },
  {
    name: "text that is not UTF-8",
    async run({ raw }) {
      const code = await raw(findMissingBlobs, [frameOf(field(1, Buffer.from([0xff, 0xfe])))]);
      isOneOf(code, "internal", "invalid_argument");
    },
  },
  {
    name: "a varint of eleven bytes",
    async run({ raw }) {
      const bytes = Buffer.concat([Buffer.from([4 << 3]), Buffer.alloc(11, 0xff)]);
      isOneOf(await raw(claim, [frameOf(bytes)]), "internal");
    },
  },
  {
    name: "a length of 2^64 - 1 inside of a message",
    async run({ raw }) {
      const bytes = Buffer.concat([
        Buffer.from([(2 << 3) | 2]),
        Buffer.alloc(9, 0xff),
        Buffer.of(1),
      ]);
      isOneOf(await raw(findMissingBlobs, [frameOf(bytes)]), "internal");
    },
  },
  {
    name: "field number 0, and wire type 7",
    async run({ raw }) {
      isOneOf(await raw(findMissingBlobs, [frameOf(Buffer.from([0, 1]))]), "internal");
      isOneOf(await raw(findMissingBlobs, [frameOf(Buffer.from([0x0f, 1]))]), "internal");
    },
  },
  {
    name: "two messages where one is due",
    async run({ raw }) {
      const empty = frameOf(Buffer.of());
      isOneOf(
        await raw(findMissingBlobs, [empty, empty]),
        "unimplemented",
        "internal",
        "invalid_argument",
        "ok",
      );
    },
  },
  {
    name: "no message where one is due",
    async run({ raw }) {
      isOneOf(
        await raw(findMissingBlobs, []),
        "unimplemented",
        "internal",
        "invalid_argument",
        "cancelled",
      );
    },
  },
  {
    name: "an unknown method, and a name from a prototype",
    async run(farm) {
      for (const path of ["/grange.worker.v1.Workers/Steal", "/__proto__/constructor", "/"]) {
        const got = await farm.raw(findMissingBlobs, [frameOf(Buffer.of())], {
          headers: { ":path": path },
        });
        isOneOf(got, "unimplemented");
      }
    },
  },
  {
    name: "gRPC by GET, and without its content type",
    async run({ raw }) {
      const get = await raw(findMissingBlobs, [], { headers: { ":method": "GET" } });
      const text = await raw(findMissingBlobs, [frameOf(Buffer.of())], {
        headers: { "content-type": "text/plain" },
      });
      assert.notEqual(get, "ok");
      assert.notEqual(text, "ok");
    },
  },
  {
    name: "10,000 streams that are reset immediately (100,000 in the long run)",
    alone: true,
    run: (farm) =>
      flood(farm, farm.full ? 100_000 : 10_000, (attacking) => {
        const stream = attacking.request(call);
        stream.on("error", () => {});
        stream.close(constants.NGHTTP2_CANCEL);
      }),
  },
  {
    name: "3,000 streams that say nothing (100,000 in the long run)",
    alone: true,
    run: (farm) =>
      flood(farm, farm.full ? 100_000 : 3_000, (attacking) => {
        attacking.request(call).on("error", () => {});
      }),
  },
  {
    name: "10,000 pings",
    alone: true,
    run: (farm) => flood(farm, 10_000, (attacking) => void attacking.ping(() => {})),
  },
  {
    name: "10,000 changes of settings",
    alone: true,
    run: (farm) =>
      flood(farm, 10_000, (attacking) => {
        try {
          attacking.settings({ initialWindowSize: 65_535 }, () => {});
        } catch {
          // Our own side counts as well.
        }
      }),
  },
  {
    name: "HTTP/2 frames that are none after the preface",
    async run({ url }) {
      const socket = connect(Number(new URL(url).port), "127.0.0.1");
      socket.on("error", () => {});
      await once(socket, "connect");
      socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
      socket.write(Buffer.alloc(100_000, 0xff));
      socket.resume();
      await once(socket, "close");
    },
  },
  {
    name: "a message that comes a byte at a time, while others are served",
    async run(farm) {
      const slow = await session(farm);
      const stream = slow.request(call);
      stream.on("error", () => {});
      const whole = frameOf(field(2, Buffer.alloc(200)));
      for (const byte of whole.subarray(0, 50)) {
        stream.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      // The message is incomplete: a server that waited for its end would not answer.
      isOneOf(await farm.raw(findMissingBlobs, [frameOf(Buffer.of())]), "ok");
      slow.destroy();
    },
  },
];

export const grpcMessageSuite: HostileSuite<HostileFarm> = {
  interface: "protobuf and gRPC",
  atLeast: 30,
  cases: [...tried(hostileMessages), ...more],
  open: openFarm,
};
