import { expect, test } from "vitest";
import { allowedPrivateHosts } from "./private-hosts.ts";

const here = { host: "127.0.0.1", privateHosts: undefined, publicUrl: undefined };
const publicUrl = new URL("https://farm.example/");

test.each([
  { farm: "on loopback and open", config: here, isOpen: true, hosts: ["*"] },
  { farm: "on loopback and closed", config: here, isOpen: false, hosts: [] },
  { farm: "behind a proxy", config: { ...here, publicUrl }, isOpen: true, hosts: [] },
  { farm: "others reach", config: { ...here, host: "0.0.0.0" }, isOpen: true, hosts: [] },
  {
    farm: "closed, with hosts of its operator,",
    config: { ...here, publicUrl, privateHosts: ["git.internal"] },
    isOpen: false,
    hosts: ["git.internal"],
  },
])("a farm $farm fetches from $hosts", ({ config, isOpen, hosts }) => {
  expect(allowedPrivateHosts(config, isOpen)).toEqual(hosts);
});
