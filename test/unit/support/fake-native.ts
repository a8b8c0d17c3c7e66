// A data plane that only remembers: for tests of what is around it.
import type { Stream } from '../../../src/admin/http/http.js';
import type { ListenerStatus } from '../../../src/base/listener-status.js';
import type {
  ApplyError,
  ClusterBudget,
  ControlHost,
  DrainScope,
  DrainStrategy,
  HostCounter,
  NativeProxy,
} from '../../../src/native.js';
import type { Page, SinkPieces, StatsQuery } from '../../../src/native-stats.js';
import type { PassedSocket } from '../../../src/native-hot-restart.js';

export class FakeNative implements NativeProxy {
  /** What was called, in order, where the order matters. */
  readonly calls: string[] = [];
  readonly values = new Map<string, number>();
  readonly queries: StatsQuery[] = [];
  listenerList: readonly ListenerStatus[] = [];
  /** What readCpuProfile() gives once. */
  cpuSamples: number[] = [];
  applyErrors: readonly ApplyError[] = [];
  flushPieces: SinkPieces[] = [];
  samplePieces: SinkPieces[] = [];
  readonly statuses: Record<string, string> = {};
  lost = 0;
  areConnectionsTooMany = false;
  /** Connections. */
  openCount = 0;
  hosts: readonly { readonly address: string; readonly port: number }[] = [];
  /** Listen sockets that it was given, and gives. */
  readonly passed: PassedSocket[] = [];
  /** Statistics that it gives, batch by batch, and was given. */
  readonly exports: Buffer[] = [];
  readonly imported: Buffer[] = [];
  readonly #names: string[] = [];

  value(name: string): number | undefined {
    return this.values.get(name);
  }

  apply(): readonly ApplyError[] {
    this.calls.push('apply');
    return this.applyErrors;
  }
  start(): readonly ApplyError[] {
    this.calls.push('start');
    return [];
  }
  listeners(): readonly ListenerStatus[] {
    return this.listenerList;
  }
  startDrain(scope: DrainScope, seconds: number, strategy: DrainStrategy): void {
    this.calls.push(`startDrain ${scope} ${seconds} ${strategy}`);
  }
  stopListening(scope: DrainScope): void {
    this.calls.push(`stopListening ${scope}`);
  }
  cancelDrain(): void {
    this.calls.push('cancelDrain');
  }
  inherit(sockets: readonly PassedSocket[]): void {
    this.passed.push(...sockets);
  }
  endInheritance(): readonly string[] {
    return this.passed.map(({ address }) => address);
  }
  listenSockets(): readonly PassedSocket[] {
    return this.passed;
  }
  handOver(takenAddresses: readonly string[]): Promise<void> {
    this.calls.push(`handOver ${takenAddresses.join(' ')}`);
    return Promise.resolve();
  }
  takeBack(): readonly ApplyError[] {
    this.calls.push('takeBack');
    return [];
  }
  exportStats(): { readonly batch: Buffer; readonly more: boolean } {
    return { batch: this.exports.shift() ?? Buffer.alloc(0), more: this.exports.length > 0 };
  }
  beginExport(): void {
    this.calls.push('beginExport');
  }
  importStats(batch: Uint8Array): void {
    this.imported.push(Buffer.from(batch));
  }
  endImports(): void {
    this.calls.push('endImports');
  }
  awaitRound(): Promise<void> {
    return Promise.resolve();
  }
  awaitChecks(): Promise<void> {
    return Promise.resolve();
  }
  setHealthCheckFailed(failed: boolean): void {
    this.calls.push(`setHealthCheckFailed ${failed}`);
  }
  traced: ((tap: number, trace: bigint, bytes: Buffer) => void) | undefined;
  onTrace(callback: (tap: number, trace: bigint, bytes: Buffer) => void): void {
    this.traced = callback;
  }
  logged: ((service: number, count: bigint, entries: Buffer) => void) | undefined;
  onLogEntries(callback: (service: number, count: bigint, entries: Buffer) => void): void {
    this.logged = callback;
  }
  flushLogService(service: number): void {
    this.calls.push(`flushLogService ${service}`);
  }
  blockLogService(service: number, isBlocked: boolean): void {
    this.calls.push(`blockLogService ${service} ${isBlocked}`);
  }
  onName(): void {
    this.calls.push('onName');
  }
  nameAge(): number {
    return 0;
  }
  onAsk(): void {
    this.calls.push('onAsk');
  }
  addLoadReporterStats(): string {
    return 'load_reporter.';
  }
  addHdsStats(): string {
    return 'hds_delegate.';
  }
  shutdown(): Promise<void> {
    this.calls.push('shutdown');
    return Promise.resolve();
  }
  reopenLogs(): void {
    this.calls.push('reopenLogs');
  }
  stat(name: string): number {
    this.#names.push(name);
    return this.#names.length - 1;
  }
  counterAdd(handle: number, amount: number): boolean {
    const name = this.#name(handle);
    this.values.set(name, (this.values.get(name) ?? 0) + amount);
    return true;
  }
  gaugeSet(handle: number, value: number): boolean {
    this.values.set(this.#name(handle), value);
    return true;
  }
  addTo(name: string, amount: number): boolean {
    this.values.set(name, (this.values.get(name) ?? 0) + amount);
    return true;
  }
  tellUpdate(prefix: string): void {
    this.addTo(`${prefix}update_success`, 1);
  }
  histogramRecord(handle: number, value: number): boolean {
    this.values.set(this.#name(handle), value);
    return true;
  }
  textSet(): boolean {
    this.calls.push('textSet');
    return true;
  }
  isStat(): boolean {
    return true;
  }
  openConnections(): number {
    return this.openCount;
  }
  statValue(name: string): number | undefined {
    return this.values.get(name);
  }
  flushHistograms(): void {
    this.calls.push('flushHistograms');
  }
  resetCounters(): void {
    this.calls.push('resetCounters');
  }
  openStats(query: StatsQuery): Page {
    this.queries.push(query);
    return pageOf('stats');
  }
  openHystrix(nowSeconds: number): Page {
    this.calls.push(`openHystrix at ${nowSeconds}`);
    return pageOf('data: {}\n\n');
  }
  resetHystrix(): void {
    this.calls.push('resetHystrix');
  }
  openFlush(): void {
    this.calls.push('openFlush');
  }
  nextOfFlush(): SinkPieces {
    return this.flushPieces.shift() ?? { pieces: [], more: false };
  }
  takeSamples(): SinkPieces {
    return this.samplePieces.shift() ?? { pieces: [], more: false };
  }
  lostSamples(): number {
    return this.lost;
  }
  chooseHost(): ControlHost | undefined {
    return this.hosts[0];
  }
  hostAdd(cluster: string, _: string, port: number, counter: HostCounter, amount: number): void {
    this.#add(`${cluster}:${port} ${counter}`, amount);
  }
  countAnswer(cluster: string, status: number): void {
    this.#add(`${cluster} ${status}`, 1);
  }
  countRetried(cluster: string, status: number): void {
    this.#add(`${cluster} retried ${status}`, 1);
  }
  recordAnswerTime(cluster: string): void {
    this.#add(`${cluster} times`, 1);
  }
  takeBudget(cluster: string, budget: ClusterBudget): boolean {
    this.#add(`${cluster} ${budget}`, 1);
    return true;
  }
  returnBudget(cluster: string, budget: ClusterBudget): void {
    this.#add(`${cluster} ${budget}`, -1);
  }
  addHttp2Stats(cluster: string): void {
    this.calls.push(`addHttp2Stats ${cluster}`);
  }
  addGoogleGrpcStats(statPrefix: string): string {
    return `grpc.${statPrefix}.`;
  }
  addLdsStats(): string {
    return 'listener_manager.lds.';
  }

  addControlPlaneStats(prefix: string): string {
    return `${prefix}control_plane.`;
  }
  addRtdsStats(): string {
    return 'runtime.';
  }

  removeStats(_prefix: string): void {}
  announceListener(): void {
    // Listeners are not counted.
  }
  takeAnnouncementBack(): void {
    // Likewise.
  }
  setWarming(): void {
    // Pages of clusters are not told of.
  }
  endWaits(): void {
    // Likewise.
  }

  addTracerStats(kind: string): string {
    return `tracing.${kind}.`;
  }
  onSpans(): void {
    // Nothing is traced.
  }
  takeSpans(): Buffer {
    return Buffer.alloc(0);
  }
  droppedSpans(): number {
    return 0;
  }
  addCdsStats(): string {
    return 'cluster_manager.cds.';
  }
  addRdsStats(httpPrefix: string, routeConfiguration: string): string {
    return `http.${httpPrefix}.rds.${routeConfiguration}.`;
  }
  addVhdsStats(httpPrefix: string, routeConfiguration: string): string {
    const prefix = httpPrefix === '' ? '' : `http.${httpPrefix}.rds.`;
    return `${prefix}vhds.${routeConfiguration}.`;
  }
  addScopedRdsStats(httpPrefix: string, name: string): string {
    return `http.${httpPrefix}.scoped_rds.${name}.`;
  }
  addExtensionStats(kind: string, name: string): string {
    return `extension_config_discovery.${kind}.${name}.`;
  }
  addLedsStats(cluster: string): string {
    return `cluster.${cluster}.leds.`;
  }
  addOdcdsStats(): string {
    return 'cluster_manager.odcds.';
  }
  onDemands(): void {}
  addSdsStats(secret: string): string {
    return `sds.${secret}.`;
  }
  clusterPrefix(cluster: string): string {
    return `cluster.${cluster}.`;
  }
  #add(name: string, amount: number): void {
    this.values.set(name, (this.values.get(name) ?? 0) + amount);
  }
  openClusters(format: 'text' | 'json', filter: Uint8Array | undefined): Page {
    return pageOf(`clusters as ${format}${filter ? ', filtered' : ''}`);
  }
  clusterStatus(name: string): string | undefined {
    return this.statuses[name];
  }
  takeLoads(): undefined {
    return undefined;
  }
  contention() {
    return { count: 3n, lastWaitCycles: 40n, totalWaitCycles: 500n };
  }
  startCpuProfile(): boolean {
    this.calls.push('startCpuProfile');
    return true;
  }
  readCpuProfile(): Float64Array {
    return new Float64Array(this.cpuSamples.splice(0));
  }
  stopCpuProfile(): Float64Array {
    this.calls.push('stopCpuProfile');
    return this.readCpuProfile();
  }
  logAdminRequest(): void {
    this.calls.push('logAdminRequest');
  }
  addConnection(isExempt: boolean): boolean {
    return isExempt || !this.areConnectionsTooMany;
  }
  removeConnection(): void {
    this.calls.push('removeConnection');
  }
  memory() {
    return { allocated: 1, heapSize: 2, free: 3 };
  }

  #name(handle: number): string {
    return this.#names[handle] ?? '';
  }
}

export function pageOf(...pieces: readonly string[]): Page {
  const rest = [...pieces];
  return {
    next: () => {
      const piece = rest.shift();
      return piece === undefined ? null : Buffer.from(piece);
    },
  };
}

/** The whole of a page, or a text as it is; what has no end is empty. */
export function textOf(body: string | Page | Stream): string {
  if (typeof body === 'string') return body;
  if ('listen' in body) return '';
  const pieces: Buffer[] = [];
  for (let piece = body.next(); piece !== null; piece = body.next()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
