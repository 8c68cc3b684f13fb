import { printableLine } from "../terminal/printable-text.ts";
import type { SshHost } from "./ssh-host.ts";

/** The exit code of ssh's own failures; all others are those of the command on the other machine. */
export const sshItself = 255;

/**
 * OpenSSH's messages, with the remedies. The first match is used, because a changed key also causes a failed
 * authentication.
 */
const known: readonly (readonly [said: RegExp, explain: (host: SshHost) => string])[] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    ({ text, host }) =>
      `the host key of ${text} is not the one that ssh knows: another machine may stand in its place. ` +
      `If it was set up anew, forget the old key (ssh-keygen -R ${host}) and connect once with ssh to accept the new one`,
  ],
  [
    /Host key verification failed|No .* host key is known/,
    ({ text }) =>
      `ssh does not know the host key of ${text}. Connect once with ssh and compare it, ` +
      "or accept it unseen with --ssh-option StrictHostKeyChecking=accept-new",
  ],
  [
    /UNPROTECTED PRIVATE KEY FILE|bad permissions/,
    ({ text }) =>
      `ssh does not use the key for ${text}, since others can read its file: chmod 600 the file`,
  ],
  [
    /Permission denied|Too many authentication failures/,
    ({ text }) =>
      `${text} does not let this user in. Name the right user (user@host) and key (--ssh-key), ` +
      "and see that the public key is in ~/.ssh/authorized_keys there; no password is asked for",
  ],
  [
    /Could not resolve hostname/,
    ({ text, host }) =>
      `there is no machine called ${host} in DNS or in ~/.ssh/config (--ssh ${text})`,
  ],
  [
    /Connection refused/,
    ({ text }) =>
      `${text} is there, but no ssh server listens on that port: start sshd, or name its port (host:port)`,
  ],
  [
    /Connection timed out|No route to host|Network is unreachable|Operation timed out/,
    ({ text }) =>
      `${text} cannot be reached: see that the machine is on, and that the network and its firewall let ssh through`,
  ],
  [
    /Bad configuration option|command-line line \d+|Bad owner or permissions on/,
    () => "ssh does not take its options: look at --ssh-option and ~/.ssh/config",
  ],
  [
    /Connection (closed|reset)|kex_exchange_identification|Timeout, server|Broken pipe/,
    ({ text }) => `the connection to ${text} was lost; try again`,
  ],
];

/** Returns one sentence: the problem, and the remedy. An unknown message of ssh is appended. */
export function explainSshFailure(host: SshHost, stderr: string): string {
  const found = known.find(([said]) => said.test(stderr));
  const message = printableLine(stderr.trim().split("\n").at(-1) ?? "");
  if (found === undefined) return `ssh to ${host.text} failed: ${message || "it said nothing"}`;
  return `${found[1](host)} (ssh: ${message})`;
}
