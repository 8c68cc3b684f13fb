import { afterAll, beforeAll } from "vitest";
import { blobRules } from "./blob-rules.ts";
import { byteStreamRules } from "./byte-stream-rules.ts";
import { cacheRules } from "./cache-rules.ts";
import { callerRules } from "./caller-rules.ts";
import { capabilitiesRules } from "./capabilities-rules.ts";
import { executionRules } from "./execution-rules.ts";
import { failureRules } from "./failure-rules.ts";
import { operationRules } from "./operation-rules.ts";
import { outputRules } from "./output-rules.ts";
import { platformRules } from "./platform-rules.ts";
import { type SharedFarm, sharedFarm } from "./shared-farm.ts";
import { treeRules } from "./tree-rules.ts";

let farm: SharedFarm;
beforeAll(async () => {
  farm = await sharedFarm();
});
afterAll(() => farm?.stop());
const shared = () => farm;

capabilitiesRules(shared);
platformRules(shared);
outputRules(shared);
treeRules(shared);
executionRules(shared);
operationRules(shared);
failureRules(shared);
cacheRules(shared);
blobRules(shared);
byteStreamRules(shared);
callerRules(shared);
