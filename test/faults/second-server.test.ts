import { expect, test } from "vitest";
import { lockingMachine } from "../support/needs/machine-needs.ts";
import { needs } from "../support/needs/needs.ts";
import { pidNamespace, startSecondServers } from "./second-server.ts";

test(
  "a second server on a data directory is refused in the same namespace, in a container and after another boot, and the database stays intact",
  needs(pidNamespace, lockingMachine),
  async () => {
    const { notRefused, violations } = await startSecondServers(1);

    expect(notRefused).toEqual([]);
    expect(violations).toEqual([]);
  },
);
