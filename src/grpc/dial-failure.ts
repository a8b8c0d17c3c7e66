/** Why there is no connection to a host. */
export interface DialFailure {
  readonly kind: 'timeout' | 'refused' | 'tls' | 'secret' | 'certificate' | 'subject' | 'hash';
  readonly message: string;
}

const TLS_FAULTS: Readonly<Partial<Record<DialFailure['kind'], string>>> = {
  tls: 'ssl.connection_error',
  secret: 'client_ssl_socket_factory.upstream_context_secrets_not_ready',
  certificate: 'ssl.fail_verify_error',
  subject: 'ssl.fail_verify_san',
  hash: 'ssl.fail_verify_cert_hash',
};

/** The cluster's statistic of a handshake that failed, or could not begin; undefined: it was none. */
export function tlsFaultOf({ kind }: DialFailure): string | undefined {
  return TLS_FAULTS[kind];
}
