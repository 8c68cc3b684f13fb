import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";

const Answer = z.looseObject({ type: z.string(), to: z.number().optional() });

/** A build system's connection to a granary, which asks one question at a time. */
interface GranaryClient {
  /** Sends a message and returns the answer to it. Throws for a message that the granary does not understand. */
  ask(message: Readonly<Record<string, unknown>>): Promise<z.infer<typeof Answer>>;
  close(): void;
}

/** Connects to the granary whose data is in a directory, and greets it. */
export async function granaryClient(data: string): Promise<GranaryClient> {
  const socket = connect(join(data, "socket"));
  await once(socket, "connect");
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  let last = 0;
  const client: GranaryClient = {
    async ask(message) {
      last += 1;
      socket.write(`${JSON.stringify({ ...message, id: last })}\n`);
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) throw new Error("the granary has closed the connection");
        const answer = Answer.parse(JSON.parse(value));
        if (answer.type === "note") throw new Error(value);
        if (answer.to === last) return answer;
      }
    },
    close: () => socket.destroy(),
  };
  await client.ask({ type: "hello", versions: [1] });
  return client;
}
