import { pino } from "pino";
import { startDaemonProxy } from "#granary/dune/daemon-proxy.ts";

// A granary's part at the door, in a process of its own: to be stopped and killed.
const [directory = "", endpointFile = ""] = process.argv.slice(2);
const logger = pino();

const proxy = await startDaemonProxy({
  directory,
  onClient(client) {
    client.greet();
    void (async () => {
      for await (const _ of client.bytes);
    })();
  },
});
logger.info({ port: await proxy.hold("build", endpointFile, 40) }, "held");
