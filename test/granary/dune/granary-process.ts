import { pino } from "pino";
import { startDoorman } from "#granary/dune/doorman.ts";

// A granary's part at the door, in a process of its own: to be stopped and killed.
const [directory = "", beacon = ""] = process.argv.slice(2);
const logger = pino();

const doorman = await startDoorman({
  directory,
  onClient(client) {
    client.greet();
    void (async () => {
      for await (const _ of client.bytes);
    })();
  },
});
logger.info({ port: await doorman.hold("build", beacon, 40) }, "held");
