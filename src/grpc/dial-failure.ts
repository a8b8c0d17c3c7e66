/** Why there is no connection to a host. */
export interface DialFailure {
  readonly kind: 'timeout' | 'refused' | 'tls' | 'certificate' | 'subject' | 'hash';
  readonly message: string;
}
