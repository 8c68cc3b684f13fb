/** A network namespace of one service, with a virtual pair of interfaces to that of the job. */
export interface OwnNetwork {
  /** The IPv4 address of the service. */
  readonly address: string;
  /** That of the job and of all other services, as this service reaches them. */
  readonly jobAddress: string;
}

/** A service, and the TCP ports on which it listens as far as they are known. */
interface ServicePorts {
  readonly name: string;
  readonly ready?: { readonly port?: number | undefined } | undefined;
  /** Those that its image exposes. */
  readonly exposed: readonly number[];
}

/**
 * The network of all addresses: for measurements between networks (RFC 2544), so no other machine has them. In
 * notation of CIDR.
 */
export const networkOfServices = "198.18.0.0/15";

/**
 * Returns which services have a network namespace of their own: those with a port that an earlier one has. All others
 * share that of the job, and are at `localhost`, too.
 */
export function ownNetworks(services: readonly ServicePorts[]): ReadonlyMap<string, OwnNetwork> {
  const own = new Map<string, OwnNetwork>();
  const taken = new Set<number>();
  for (const service of services) {
    const ports = portsOf(service);
    if (ports.some((port) => taken.has(port))) {
      const third = own.size + 1;
      own.set(service.name, { address: `198.18.${third}.2`, jobAddress: `198.18.${third}.1` });
    } else for (const port of ports) taken.add(port);
  }
  return own;
}

/** Of an image that was told to listen on another port, the exposed ones do not count. */
function portsOf({ ready, exposed }: ServicePorts): readonly number[] {
  const port = ready?.port;
  return port === undefined || exposed.includes(port) ? exposed : [port];
}

/** Returns the text of /etc/hosts of a service, or of the job when no name is given. */
export function hostsText(
  names: readonly string[],
  own: ReadonlyMap<string, OwnNetwork>,
  viewer?: string,
): string {
  const beside = names.filter((name) => !own.has(name));
  const network = viewer === undefined ? undefined : own.get(viewer);
  const line = (address: string, hosts: readonly string[]) =>
    hosts.length === 0 ? [] : [`${address} ${hosts.join(" ")}`];
  const here = network === undefined || viewer === undefined ? beside : [viewer];
  return [
    ...line("127.0.0.1", ["localhost", "grange", ...here]),
    "::1 localhost",
    ...(network === undefined ? [] : line(network.jobAddress, beside)),
    ...[...own]
      .filter(([name]) => name !== viewer)
      .map(([name, { address }]) => `${address} ${name}`),
    "",
  ].join("\n");
}
