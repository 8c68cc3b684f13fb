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
      `the host key of ${text} is not the one that ssh knows: another machine may use its address. ` +
      `If the machine was reinstalled, remove the old key (ssh-keygen -R ${host}) and connect once with ssh to accept the new one`,
  ],
  [
    /Host key verification failed|No .* host key is known/,
    ({ text }) =>
      `ssh does not know the host key of ${text}. Connect once with ssh and compare the key, ` +
      "or accept it without a check, with --ssh-option StrictHostKeyChecking=accept-new",
  ],
  [
    /UNPROTECTED PRIVATE KEY FILE|bad permissions/,
    ({ text }) =>
      `ssh does not use the key for ${text}, because other users can read its file. Run chmod 600 on the file`,
  ],
  [
    /Permission denied|Too many authentication failures/,
    ({ text }) =>
      `${text} does not accept this user. Give the right user (user@host) and key (--ssh-key), ` +
      "and check that ~/.ssh/authorized_keys on that machine contains the public key. Passwords are not supported",
  ],
  [
    /Could not resolve hostname/,
    ({ text, host }) => `the name ${host} is neither in DNS nor in ~/.ssh/config (--ssh ${text})`,
  ],
  [
    /Connection refused/,
    ({ text }) =>
      `${text} answers, but no ssh server listens on this port. Start sshd, or give its port (host:port)`,
  ],
  [
    /Connection timed out|No route to host|Network is unreachable|Operation timed out/,
    ({ text }) =>
      `${text} cannot be reached. Check that the machine is on, and that the network and its firewall allow ssh`,
  ],
  [
    /Bad configuration option|command-line line \d+|Bad owner or permissions on/,
    () => "ssh does not accept its options. Check --ssh-option and ~/.ssh/config",
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
  if (found === undefined)
    return `ssh to ${host.text} failed: ${message || "it printed no reason"}`;
  return `${found[1](host)} (ssh: ${message})`;
}
