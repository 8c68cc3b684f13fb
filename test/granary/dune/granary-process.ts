import { pino } from "pino";
import { startDaemonProxy } from "#granary/dune/daemon-proxy.ts";

// The daemon part of a granary in a separate process, which tests stop and kill.
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
