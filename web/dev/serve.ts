import { FakeFarm } from "./fake-farm.ts";
import { startFakeServer } from "./fake-server.ts";
import { madeUpFarm } from "./made-up-farm.ts";
import { madeUpGranary } from "./made-up-granary.ts";
import { madeUpLab } from "./made-up-lab.ts";
import { walk } from "./walk.ts";

// `npx tsx web/dev/serve.ts [PORT] [PAGES] [empty|many]`: the API with made-up data, for `npx vite` or for built pages.
const [, , port = "4700", pagesDirectory, empty] = process.argv;
const farm = empty === "empty" ? new FakeFarm() : madeUpFarm(new Date());
if (empty !== "empty") farm.granary = madeUpGranary(new Date());
if (empty !== "empty") farm.lab = madeUpLab(new Date(), empty === "many" ? 700 : 24);
const server = await startFakeServer(farm, {
  port: Number(port),
  ...(pagesDirectory === undefined ? {} : { pagesDirectory }),
});
process.stdout.write(`${server.url}\n`);
const stopWalking = walk(farm, "now", 1_500);
process.once("SIGTERM", () => {
  stopWalking();
  void server.stop();
});
