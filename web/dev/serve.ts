import { FakeFarm } from "./fake-farm.ts";
import { startFakeServer } from "./fake-server.ts";
import { madeUpFarm } from "./made-up-farm.ts";
import { walk } from "./walk.ts";

// `npx tsx web/dev/serve.ts [PORT] [PAGES] [empty]`: the API with made-up data, for `npx vite` or for built pages.
const [, , port = "4700", pagesDirectory, empty] = process.argv;
const farm = empty === "empty" ? new FakeFarm() : madeUpFarm(new Date());
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
