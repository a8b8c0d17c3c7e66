/** Why there is no connection to a host. */
export interface DialFailure {
  readonly kind: 'timeout' | 'refused' | 'tls' | 'certificate' | 'subject' | 'hash';
  readonly message: string;
}

const SSL_FAULTS: Readonly<Partial<Record<DialFailure['kind'], string>>> = {
  tls: 'ssl.connection_error',
  certificate: 'ssl.fail_verify_error',
  subject: 'ssl.fail_verify_san',
  hash: 'ssl.fail_verify_cert_hash',
};

/** The cluster's statistic of a handshake that failed; undefined: it was none. */
export function sslFaultOf({ kind }: DialFailure): string | undefined {
  return SSL_FAULTS[kind];
}
