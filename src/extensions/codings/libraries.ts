// The libraries of content codings that compressors and decompressors name.
import type {
  envoy_extensions_compression_brotli_compressor_v3_Brotli as BrotliEncoder,
  envoy_extensions_compression_brotli_decompressor_v3_Brotli as BrotliDecoder,
  envoy_extensions_compression_gzip_compressor_v3_Gzip as GzipEncoder,
  envoy_extensions_compression_gzip_decompressor_v3_Gzip as GzipDecoder,
  envoy_extensions_compression_zstd_compressor_v3_Zstd as ZstdEncoder,
  envoy_extensions_compression_zstd_decompressor_v3_Zstd as ZstdDecoder,
} from '../../../build/messages.gen.js';
import { type CompileContext, defineExtension } from '../../plan/extension.js';
import { readDataSource } from '../../plan/message/data-source.js';
import type { Place } from '../../plan/message/place.js';
import { refuseOtherFields, supportedFields } from '../../plan/message/supported-fields.js';
import { Decoder_Coding, Encoder_Coding, type Decoder, type Encoder } from '../../plan/plan.gen.js';

const CHUNK_BYTES = 4096;
/** What zstd itself recommends. */
const ZSTD_CHUNK_BYTES = 131_591;
const MAX_INFLATE_RATIO = 100;

const GZIP_ENCODER = supportedFields<GzipEncoder>(
  'envoy.extensions.compression.gzip.compressor.v3.Gzip',
  ['memory_level', 'compression_level', 'compression_strategy', 'window_bits', 'chunk_size'],
);
const GZIP_DECODER = supportedFields<GzipDecoder>(
  'envoy.extensions.compression.gzip.decompressor.v3.Gzip',
  ['window_bits', 'chunk_size', 'max_inflate_ratio'],
);
const BROTLI_ENCODER = supportedFields<BrotliEncoder>(
  'envoy.extensions.compression.brotli.compressor.v3.Brotli',
  [
    'quality',
    'encoder_mode',
    'window_bits',
    'input_block_bits',
    'chunk_size',
    'disable_literal_context_modeling',
  ],
);
const BROTLI_DECODER = supportedFields<BrotliDecoder>(
  'envoy.extensions.compression.brotli.decompressor.v3.Brotli',
  ['disable_ring_buffer_reallocation', 'chunk_size'],
);
const ZSTD_ENCODER = supportedFields<ZstdEncoder>(
  'envoy.extensions.compression.zstd.compressor.v3.Zstd',
  ['compression_level', 'enable_checksum', 'strategy', 'dictionary', 'chunk_size'],
);
const ZSTD_DECODER = supportedFields<ZstdDecoder>(
  'envoy.extensions.compression.zstd.decompressor.v3.Zstd',
  ['dictionaries', 'chunk_size'],
);

/** As zlib numbers them. */
const GZIP_LEVELS: Readonly<Record<string, number>> = {
  BEST_SPEED: 1,
  COMPRESSION_LEVEL_2: 2,
  COMPRESSION_LEVEL_3: 3,
  COMPRESSION_LEVEL_4: 4,
  COMPRESSION_LEVEL_5: 5,
  COMPRESSION_LEVEL_6: 6,
  COMPRESSION_LEVEL_7: 7,
  COMPRESSION_LEVEL_8: 8,
  BEST_COMPRESSION: 9,
};
/**
 * Of zlib's own: of a page's text it makes two percent more than the real server's default, which another
 * library makes, in two thirds of its time. zlib's own default takes more time than that.
 */
const DEFAULT_GZIP_LEVEL = 4;
const GZIP_STRATEGIES: Readonly<Record<string, number>> = {
  FILTERED: 1,
  HUFFMAN_ONLY: 2,
  RLE: 3,
  FIXED: 4,
};
const BROTLI_MODES: Readonly<Record<string, number>> = { TEXT: 1, FONT: 2 };
const ZSTD_STRATEGIES: readonly string[] = [
  'DEFAULT',
  'FAST',
  'DFAST',
  'GREEDY',
  'LAZY',
  'LAZY2',
  'BTLAZY2',
  'BTOPT',
  'BTULTRA',
  'BTULTRA2',
];

export const gzipEncoder = defineExtension<GzipEncoder, Encoder | undefined>({
  name: 'envoy.compression.gzip.compressor',
  type: GZIP_ENCODER.type,
  compile(config, place) {
    refuseOtherFields(place, config, GZIP_ENCODER);
    return {
      coding: Encoder_Coding.GZIP,
      level: GZIP_LEVELS[config.compression_level ?? ''] ?? DEFAULT_GZIP_LEVEL,
      strategy: GZIP_STRATEGIES[config.compression_strategy ?? ''] ?? 0,
      window_bits: config.window_bits ?? 12,
      memory_level: config.memory_level ?? 5,
      chunk_bytes: config.chunk_size ?? CHUNK_BYTES,
    };
  },
});

export const brotliEncoder = defineExtension<BrotliEncoder, Encoder | undefined>({
  name: 'envoy.compression.brotli.compressor',
  type: BROTLI_ENCODER.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, BROTLI_ENCODER);
    if (isMissing('brotli', place, context)) return undefined;
    return {
      coding: Encoder_Coding.BROTLI,
      level: config.quality ?? 3,
      mode: BROTLI_MODES[config.encoder_mode ?? ''] ?? 0,
      window_bits: config.window_bits ?? 18,
      block_bits: config.input_block_bits ?? 24,
      without_literal_contexts: config.disable_literal_context_modeling,
      chunk_bytes: config.chunk_size ?? CHUNK_BYTES,
    };
  },
});

export const zstdEncoder = defineExtension<ZstdEncoder, Encoder | undefined>({
  name: 'envoy.compression.zstd.compressor',
  type: ZSTD_ENCODER.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, ZSTD_ENCODER);
    if (isMissing('zstd', place, context)) return undefined;
    const dictionary = readDataSource(config.dictionary, place.field('dictionary'));
    return {
      coding: Encoder_Coding.ZSTD,
      level: config.compression_level ?? 3,
      strategy: Math.max(ZSTD_STRATEGIES.indexOf(config.strategy ?? 'DEFAULT'), 0),
      checksum: config.enable_checksum,
      dictionary,
      chunk_bytes: config.chunk_size ?? ZSTD_CHUNK_BYTES,
    };
  },
});

export const gzipDecoder = defineExtension<GzipDecoder, Decoder | undefined>({
  name: 'envoy.compression.gzip.decompressor',
  type: GZIP_DECODER.type,
  compile(config, place) {
    refuseOtherFields(place, config, GZIP_DECODER);
    return {
      coding: Decoder_Coding.GZIP,
      window_bits: config.window_bits ?? 15,
      max_ratio: config.max_inflate_ratio ?? MAX_INFLATE_RATIO,
      chunk_bytes: config.chunk_size ?? CHUNK_BYTES,
    };
  },
});

export const brotliDecoder = defineExtension<BrotliDecoder, Decoder | undefined>({
  name: 'envoy.compression.brotli.decompressor',
  type: BROTLI_DECODER.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, BROTLI_DECODER);
    if (isMissing('brotli', place, context)) return undefined;
    return {
      coding: Decoder_Coding.BROTLI,
      keeps_ring_buffer: config.disable_ring_buffer_reallocation,
      max_ratio: MAX_INFLATE_RATIO,
      chunk_bytes: config.chunk_size ?? CHUNK_BYTES,
    };
  },
});

export const zstdDecoder = defineExtension<ZstdDecoder, Decoder | undefined>({
  name: 'envoy.compression.zstd.decompressor',
  type: ZSTD_DECODER.type,
  compile(config, place, context) {
    refuseOtherFields(place, config, ZSTD_DECODER);
    if (isMissing('zstd', place, context)) return undefined;
    return {
      coding: Decoder_Coding.ZSTD,
      dictionaries: (config.dictionaries ?? []).flatMap(
        (source, index) => readDataSource(source, place.field('dictionaries').index(index)) ?? [],
      ),
      chunk_bytes: config.chunk_size ?? ZSTD_CHUNK_BYTES,
    };
  },
});

function isMissing(coding: 'brotli' | 'zstd', place: Place, context: CompileContext): boolean {
  if (context.hasCoding?.(coding) ?? true) return false;
  place.error(`${coding} is not supported by this Node, nor does the system have its library`, {
    expected:
      coding === 'zstd'
        ? 'Node 22.15 or later, or libzstd.so.1'
        : 'a Node with brotli, or libbrotlienc.so.1 and libbrotlidec.so.1',
  });
  return true;
}
