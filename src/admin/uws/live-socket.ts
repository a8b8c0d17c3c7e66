// The WebSocket of /ui/live, on an App's connection.
import { guarded } from '../../base/bugs.js';
import { Waiting } from '../http/backlog.js';
import {
  ADMIN_REQUEST,
  type AdminReply,
  type AdminRequest,
  type AdminService,
} from '../http/http.js';
import { LiveFeed } from '../live/live-feed.js';
import type { UwsRequest, UwsResponse, UwsSocket, UwsSocketBehavior } from './uws.js';

const MAX_WISH_BYTES = 16 * 1024;
/** One long page may wait, and a little. */
const MAX_WAITING_BYTES = 40 * 1024 * 1024;
const IDLE_SECONDS = 120;
const POLICY_VIOLATION = 1008;

export interface LiveHost {
  /** Of the head of an upgrade. Undefined: its connection has ended with a request before it. */
  describe(request: UwsRequest): AdminRequest | undefined;
  /** As any other request. */
  serve(response: UwsResponse, request: UwsRequest): void;
  closed(): void;
}

interface Live {
  readonly feed: LiveFeed;
  readonly waiting: Waiting;
}

export function liveSocket(service: AdminService, host: LiveHost): UwsSocketBehavior {
  let request: AdminRequest | undefined;
  let live: Live | undefined;
  const on = (socket: UwsSocket, act: (live: Live) => void): void => {
    const current = live;
    if (current)
      guarded(
        ADMIN_REQUEST,
        () => act(current),
        () => socket.close(),
      )();
  };
  return {
    maxPayloadLength: MAX_WISH_BYTES,
    maxBackpressure: MAX_WAITING_BYTES,
    closeOnBackpressureLimit: true,
    idleTimeout: IDLE_SECONDS,
    upgrade: (response, head, context) => {
      const begin = (): void => {
        request = host.describe(head);
        if (!request) response.close();
        else if (service.admitSocket(request)) upgrade(response, head, context);
        else host.serve(response, head);
      };
      guarded(ADMIN_REQUEST, begin, () => response.close())();
    },
    open: (socket) => {
      const asked = request;
      if (!asked) return;
      const waiting = new Waiting();
      const send = (message: Buffer): boolean => {
        socket.send(message);
        const bytes = socket.getBufferedAmount();
        if (!waiting.set(bytes)) socket.close();
        return bytes === 0;
      };
      const look = (target: string): AdminReply => service.look({ ...asked, target });
      live = { feed: new LiveFeed(look, { send }), waiting };
    },
    message: (socket, message) => {
      // The memory is lent for this call only.
      const text = Buffer.from(new Uint8Array(message)).toString();
      on(socket, ({ feed }) => {
        const fault = feed.wish(text);
        if (fault !== undefined) socket.end(POLICY_VIOLATION, fault);
      });
    },
    drain: (socket) =>
      on(socket, ({ feed, waiting }) => {
        const bytes = socket.getBufferedAmount();
        waiting.set(bytes);
        if (bytes === 0) feed.caughtUp();
      }),
    close: () => {
      live?.feed.close();
      live?.waiting.set(0);
      live = undefined;
      host.closed();
    },
  };
}

function upgrade(response: UwsResponse, head: UwsRequest, context: unknown): void {
  const [key = '', protocol = '', extensions = ''] = [
    'sec-websocket-key',
    'sec-websocket-protocol',
    'sec-websocket-extensions',
  ].map((name) => head.getHeader(name));
  response.upgrade({}, key, protocol, extensions, context);
}
