import { z } from "zod";
import { Fault } from "#core/fault.ts";

/** The farm's address, which `grange up` sends to a worker that it started before the server. */
const FarmOnStdin = z.object({ server: z.url(), tokenFile: z.string().exactOptional() });
type FarmOnStdin = z.infer<typeof FarmOnStdin>;

/** Waits for one line on stdin, and parses it. Throws when stdin ends before: the parent has ended. */
export function farmFromStdin(stdin: NodeJS.ReadableStream = process.stdin): Promise<FarmOnStdin> {
  return new Promise((resolve, reject) => {
    let text = "";
    const read = (chunk: Buffer | string) => {
      text += chunk.toString();
      const end = text.indexOf("\n");
      if (end < 0) return;
      stdin.off("data", read);
      // Reading continues, because the end of stdin means the end of the parent.
      stdin.resume();
      try {
        resolve(FarmOnStdin.parse(JSON.parse(text.slice(0, end))));
      } catch (cause) {
        reject(
          new Fault("invalid_argument", "stdin does not contain the address of the farm", {
            cause,
          }),
        );
      }
    };
    stdin.on("data", read);
    stdin.once("end", () =>
      reject(new Fault("aborted", "stdin ended before the address of the farm")),
    );
  });
}
