import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { pathOf } from "#grpc/method.ts";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { frameOf } from "../build-tools/hostile-target.ts";
import { type HostileFarm } from "./hostile-farm.ts";
import { isOneOf } from "./known-attacks.ts";

const { findMissingBlobs } = ContentAddressableStorage.method;

export async function session({ url }: HostileFarm): Promise<ClientHttp2Session> {
  const opened = connectHttp2(url);
  opened.on("error", () => {});
  await once(opened, "connect");
  return opened;
}

export const call = {
  ":method": "POST",
  ":path": pathOf(findMissingBlobs),
  "content-type": "application/grpc",
  te: "trailers",
};

/**
 * Sends a stream until the farm refuses it or until a maximum; then another connection must be
 * served.
 */
export async function flood(
  farm: HostileFarm,
  most: number,
  each: (session: ClientHttp2Session) => void,
): Promise<void> {
  const attacking = await session(farm);
  const isOver = () => attacking.closed || attacking.destroyed;
  try {
    for (let n = 0; n < most && !isOver(); n++) {
      each(attacking);
      if (n % 100 === 99) await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    attacking.destroy();
  }
  isOneOf(await farm.raw(findMissingBlobs, [frameOf(Buffer.of())]), "ok");
}
