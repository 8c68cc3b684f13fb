import { programs } from "../../support/needs/program.ts";

/** The prefix of a command that makes root an ordinary user. */
export const asOrdinaryUser = [
  ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
  ["env", "HOME=/tmp"],
].flat();

/** The programs with which the attacks are made, besides those of every Debian. */
export const attackTools = [
  programs("programs of attacks", {
    programs: ["bash", "ip", "ipcmk", "perl", "setpriv", "unshare"],
    packages: ["iproute2", "perl-base", "util-linux"],
  }),
];
