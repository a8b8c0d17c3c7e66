/** What the real server says where something needs to know who this proxy is, and nobody has said it. */
export const nodeRequired = (who: string): string =>
  `${who}: node 'id' and 'cluster' are required. Set it either in 'node' config or via ` +
  '--service-node and --service-cluster options.';
