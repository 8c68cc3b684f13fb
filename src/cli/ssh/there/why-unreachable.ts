import { connect } from "node:net";

const longestMs = 5_000;

/**
 * Why nobody answers at the farm's address, asked from this machine; null when somebody does.
 *
 * The worker itself would try on in silence, and whoever gave it the address is still there to hear it.
 */
export function whyUnreachable(server: string): Promise<string | null> {
  const { hostname, port, protocol } = new URL(server);
  const usual = protocol === "https:" ? 443 : 80;
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? usual : Number(port),
      timeout: longestMs,
    });
    const end = (why: string | null) => {
      socket.destroy();
      resolve(why);
    };
    socket.once("connect", () => end(null));
    socket.once("timeout", () => end(`no answer within ${longestMs / 1_000} s`));
    socket.once("error", (error) => end(error.message));
  });
}
