import { connect, createServer, type Socket } from "node:net";

/**
 * Kinds of network failures: `refusing` is like a router that rejects, `silent` like one that drops
 * packets. In `silent`, data is stored and delivered afterwards, as with retransmission.
 */
export type Breakage = "refusing" | "silent";

/** The connection from a worker to its server, which a test can break and repair. */
export interface BreakableProxy {
  readonly url: string;
  break(how: Breakage): void;
  mend(): void;
  /** Resolves after this number of attempts to connect since the last break. */
  tried(times: number): Promise<void>;
  close(): Promise<void>;
}

export async function breakableProxy(target: string): Promise<BreakableProxy> {
  const port = Number(new URL(target).port);
  const links = new Set<Link>();
  let broken: Breakage | undefined;
  let tries = 0;
  let onTry: () => void = () => {};
  const countTry = () => {
    tries += 1;
    onTry();
  };

  const server = createServer((from) => {
    if (broken === "refusing") {
      countTry();
      from.destroy();
      return;
    }
    const link = new Link(from, connect(port, "127.0.0.1"), countTry);
    if (broken === "silent") {
      countTry();
      link.hold();
    }
    links.add(link);
    link.onClose(() => links.delete(link));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const own = typeof address === "object" && address !== null ? address.port : 0;

  return {
    url: `http://127.0.0.1:${own}`,
    break(how) {
      broken = how;
      tries = 0;
      for (const link of links) {
        if (how === "refusing") link.destroy();
        else link.hold();
      }
    },
    mend() {
      broken = undefined;
      for (const link of links) link.release();
    },
    tried: (times) =>
      new Promise((resolve) => {
        onTry = () => {
          if (tries >= times) resolve();
        };
        onTry();
      }),
    async close() {
      for (const link of links) link.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One connection through the proxy, in both directions. */
class Link {
  readonly #ends: readonly [Socket, Socket];
  #held: (() => void)[] | undefined;

  constructor(from: Socket, to: Socket, onHeld: () => void) {
    this.#ends = [from, to];
    const carry = (source: Socket, sink: Socket, told: () => void) => {
      source.on("data", (bytes) => {
        if (this.#held === undefined) return void sink.write(bytes);
        this.#held.push(() => sink.write(bytes));
        told();
      });
      source.on("close", () => this.#pass(() => sink.destroy()));
      source.on("error", () => {});
    };
    carry(from, to, onHeld);
    carry(to, from, () => {});
  }

  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const pass of held) pass();
  }

  destroy(): void {
    for (const end of this.#ends) end.destroy();
  }

  onClose(callback: () => void): void {
    this.#ends[0].on("close", callback);
  }

  #pass(what: () => void): void {
    if (this.#held === undefined) what();
    else this.#held.push(what);
  }
}
