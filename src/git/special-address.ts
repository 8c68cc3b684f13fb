import { BlockList, isIP } from "node:net";

/** RFC 6890: addresses that are not on the internet. */
const special = blockList(
  [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["224.0.0.0", 3],
  ],
  [
    // IPv4 addresses embedded in IPv6: compatible, translated (RFC 6052, 8215), Teredo, 6to4.
    ["::", 96],
    ["64:ff9b::", 96],
    ["64:ff9b:1::", 48],
    ["2001::", 32],
    ["2002::", 16],
    ["fc00::", 7],
    ["fe80::", 10],
    ["fec0::", 10],
    ["ff00::", 8],
  ],
);

/** The addresses at which clouds give a machine its own keys; no repository is there. */
const ofTheMachine = blockList(
  [
    ["169.254.0.0", 16],
    ["100.100.100.200", 32],
  ],
  [
    ["fe80::", 10],
    ["fd00:ec2::254", 128],
  ],
);

const loopback = blockList([["127.0.0.0", 8]], [["::1", 128]]);

/**
 * Returns whether an address is private. An IPv4 address inside an IPv6 address counts as IPv4. A text that is no
 * address counts as private.
 */
export function isPrivateAddress(address: string): boolean {
  return isIP(address) === 0 || isIn(special, address);
}

export function isMachinesOwn(address: string): boolean {
  return isIn(ofTheMachine, address);
}

export function isLoopbackAddress(address: string): boolean {
  return isIn(loopback, address);
}

function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? "ipv6" : "ipv4");
}

type Net = readonly [net: string, bits: number];

function blockList(ipv4: readonly Net[], ipv6: readonly Net[]): BlockList {
  const list = new BlockList();
  for (const [net, bits] of ipv4) list.addSubnet(net, bits, "ipv4");
  for (const [net, bits] of ipv6) list.addSubnet(net, bits, "ipv6");
  return list;
}
