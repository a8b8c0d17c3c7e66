/** A configuration, or a machine, that does not let the server start. */
export class StartError extends Error {}
