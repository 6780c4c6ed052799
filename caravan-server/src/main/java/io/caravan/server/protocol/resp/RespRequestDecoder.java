package io.caravan.server.protocol.resp;

import io.caravan.server.net.LogRateLimiter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decodes requests, which are arrays of bulk strings ({@code *2\r\n$4\r\nLLEN\r\n$1\r\nk\r\n}) or lines ({@code LLEN
 * k\r\n}).
 *
 * <p>Every length is checked against {@link RespLimits} as soon as it is read. Memory for a word is allocated when the
 * word has arrived, not when its length is known. The bytes of a request over the limits are dropped as they arrive,
 * and a {@link RespRequest.Rejected} replaces the request. After a protocol violation, the decoder passes on a {@link
 * RespRequest.Rejected} that ends the connection, and drops all further bytes.
 *
 * <p>A decoded request may take many times the memory of its bytes. Requests are therefore decoded one at a time, and
 * only while {@link Intake#open} returns true. Memory for words is reserved before it is allocated. Requests that must
 * wait, or for which no memory is available, are held back as bytes until {@link #resume}.
 */
final class RespRequestDecoder extends ByteToMessageDecoder {
    private static final Logger LOG = LoggerFactory.getLogger(RespRequestDecoder.class);
    private static final LogRateLimiter LINES = new LogRateLimiter();
    /** The first word of an HTTP request with a body, and a header that precedes the body of every HTTP request. */
    private static final List<AsciiString> HTTP_WORDS = List.of(AsciiString.of("POST"), AsciiString.of("Host:"));

    private static final byte[][] NO_WORDS = new byte[0][];
    private static final String INVALID_ARRAY = "invalid multibulk length";
    private static final String STRANGER_ARRAY = "unauthenticated multibulk length";
    private static final String INVALID_WORD = "invalid bulk length";
    private static final int FIRST_WORDS = 8;
    /** Minimum number of bytes of memory that are reserved at a time. */
    private static final int PIECE_BYTES = 4 * 1024;
    /** Maximum number of digits in a length. Every permitted length has fewer digits. */
    private static final int MAX_DIGITS = 18;

    private static final int LINE_END = '\r' << Byte.SIZE | '\n';
    private static final int LINE_END_BYTES = 2;
    /** The result for a number whose line has not arrived completely. */
    private static final long INCOMPLETE = Long.MIN_VALUE;

    private final Map<AsciiString, CommandSpec> specs;
    private final RespLimits limits;
    private final int maxWordBytes;
    private final long maxRequestBytes;
    private final Intake intake;

    private @Nullable ChannelHandlerContext context;
    private boolean paused;
    /** The reserved memory that is not used yet, in bytes. */
    private long grantedBytes;

    private boolean malformed;
    /** The words of the request that have arrived so far, in the first {@link #wordCount} elements. */
    private byte[][] words = NO_WORDS;

    private int wordCount;
    /** Number of words that the current request announces; 0 between requests. */
    private int wordsAnnounced;
    /** Length of the next word, or -1 if the length has not been read. */
    private int wordBytes = -1;

    private long requestBytes;
    /** The reason why the arriving request is dropped, or null if the request is not dropped. */
    private @Nullable String rejection;
    /** The number of bytes of an unfinished line that have already been searched for a line end. */
    private int lineScanned;

    /** Controls the decoding of requests. Called on the event loop. */
    interface Intake {
        /** Whether the next request may be decoded. */
        boolean open();

        /**
         * Whether the client still has to authenticate; until then, its requests may use only a small amount of memory.
         */
        boolean stranger();

        /** Reserves memory in addition to the received bytes. Returns false if no memory is available now. */
        boolean grant(long bytes);
    }

    /** @param specs the commands by their names, as {@link Command} looks them up */
    RespRequestDecoder(Map<AsciiString, CommandSpec> specs, RespLimits limits, Intake intake) {
        this.specs = specs;
        this.limits = limits;
        this.maxWordBytes = limits.maxWordBytes();
        this.maxRequestBytes = limits.maxRequestBytes();
        this.intake = intake;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    /**
     * Whether bytes are held back, because the intake was closed or had no memory. The held-back bytes may contain
     * complete requests.
     */
    boolean paused() {
        return paused;
    }

    /**
     * Decodes the held-back bytes, if the intake is open now. Must not be called while the decoder passes on a request.
     */
    void resume() throws Exception {
        if (paused && context != null && intake.open()) {
            paused = false;
            channelRead(context, Unpooled.EMPTY_BUFFER);
        }
    }

    /**
     * Passes the event on without reading from the socket while bytes are held back. Netty's implementation would read,
     * because no request was passed on.
     */
    @Override
    public void channelReadComplete(ChannelHandlerContext reading) throws Exception {
        if (paused) {
            discardSomeReadBytes();
            reading.fireChannelReadComplete();
        } else {
            super.channelReadComplete(reading);
        }
    }

    /**
     * Passes the event on, and keeps the held-back bytes. Netty's implementation would drop the held-back bytes when
     * the client shuts down its output.
     */
    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        ctx.fireUserEventTriggered(event);
    }

    /** Returns the memory held for requests that have not been decoded completely, in bytes. */
    long unfinishedBytes() {
        if (rejection != null) {
            return 1 + actualReadableBytes();
        }
        long words = wordsAnnounced > 0 ? requestBytes - Math.max(0, wordBytes) : 0;
        return words + actualReadableBytes();
    }

    @Override
    protected void decode(ChannelHandlerContext decoding, ByteBuf in, List<Object> out) {
        paused = !intake.open();
        if (paused) {
            return;
        }
        try {
            while (!malformed && out.isEmpty() && in.isReadable() && step(decoding, in, out)) {
                // Each step decodes one element of a request.
            }
        } catch (CommandException violation) {
            malformed = true;
            words = NO_WORDS;
            rejection = null;
            out.add(new RespRequest.Rejected(violation.reply().text()));
        }
        if (malformed) {
            in.skipBytes(in.readableBytes());
        }
    }

    /** Decodes the next element of a request. Returns false if the element needs more bytes or memory. */
    private boolean step(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (wordsAnnounced > 0) {
            if (wordBytes < 0) {
                return wordLength(in);
            }
            return rejection == null ? word(in, out) : dropWord(in, rejection, out);
        }
        return in.getByte(in.readerIndex()) == '*' ? arrayLength(in) : line(context, in, out);
    }

    /** Reserves memory for a request. If none is available, holds the bytes back and returns false. */
    private boolean grants(long bytes) {
        if (grantedBytes < bytes) {
            long more = Math.max(PIECE_BYTES, bytes - grantedBytes);
            if (!intake.grant(more)) {
                paused = true;
                return false;
            }
            grantedBytes += more;
        }
        grantedBytes -= bytes;
        return true;
    }

    private boolean arrayLength(ByteBuf in) {
        long length = number(in, INVALID_ARRAY);
        if (length == INCOMPLETE) {
            return false;
        }
        check(length <= RespLimits.MAX_WORDS, INVALID_ARRAY);
        check(length <= RespLimits.MAX_STRANGER_WORDS || !intake.stranger(), STRANGER_ARRAY);
        wordsAnnounced = (int) Math.max(0, length);
        words = NO_WORDS;
        wordCount = 0;
        requestBytes = 0;
        return true;
    }

    private boolean wordLength(ByteBuf in) {
        byte type = in.getByte(in.readerIndex());
        if (type != '$') {
            char shown = type > ' ' && type < 0x7F ? (char) type : '?';
            throw violation("expected '$', got '" + shown + "'");
        }
        long length = number(in, INVALID_WORD);
        if (length == INCOMPLETE) {
            return false;
        }
        check(length >= 0, INVALID_WORD);
        requestBytes += length + RespLimits.WORD_OVERHEAD_BYTES;
        check(requestBytes <= RespLimits.MAX_STRANGER_BYTES || !intake.stranger(), "unauthenticated bulk length");
        if (rejection == null && (length > maxWordBytes || requestBytes > maxRequestBytes)) {
            rejection = limits.rejection(length);
        }
        if (rejection != null) {
            check(requestBytes <= RespLimits.MAX_DROPPED_BYTES, rejection);
            words = NO_WORDS;
        }
        wordBytes = (int) length;
        return true;
    }

    /** Drops the available bytes of a word, and sets {@link #wordBytes} to the number of missing bytes. */
    private boolean dropWord(ByteBuf in, String why, List<Object> out) {
        int dropped = Math.min(wordBytes, in.readableBytes());
        in.skipBytes(dropped);
        wordBytes -= dropped;
        if (wordBytes > 0 || in.readableBytes() < LINE_END_BYTES) {
            return false;
        }
        checkLineEnd(in);
        wordBytes = -1;
        wordCount++;
        if (wordCount == wordsAnnounced) {
            rejection = null;
            wordsAnnounced = 0;
            out.add(new RespRequest.Rejected("ERR " + why, false));
        }
        return true;
    }

    private static void checkLineEnd(ByteBuf in) {
        check(in.readShort() == LINE_END, "expected a line end after a bulk string");
    }

    private boolean word(ByteBuf in, List<Object> out) {
        int overhead = RespLimits.WORD_OVERHEAD_BYTES + (wordCount == 0 ? RespLimits.REQUEST_OVERHEAD_BYTES : 0);
        if (in.readableBytes() < wordBytes + LINE_END_BYTES || !grants(overhead)) {
            return false;
        }
        byte[] word = new byte[wordBytes];
        in.readBytes(word);
        checkLineEnd(in);
        wordBytes = -1;
        if (wordCount == words.length) {
            words = Arrays.copyOf(words, Math.min(wordsAnnounced, Math.max(FIRST_WORDS, 2 * wordCount)));
        }
        words[wordCount++] = word;
        if (wordCount == wordsAnnounced) {
            out.add(new Command(specs, words.length == wordCount ? words : Arrays.copyOf(words, wordCount)));
            words = NO_WORDS;
            wordsAnnounced = 0;
        }
        return true;
    }

    /** Reads the number in a line that starts with a type byte. Consumes no bytes if the line is incomplete. */
    private static long number(ByteBuf in, String otherwise) {
        int start = in.readerIndex() + 1;
        int end = in.writerIndex();
        int at = start;
        boolean negative = at < end && in.getByte(at) == '-';
        int firstDigit = negative ? start + 1 : start;
        long number = 0;
        for (at = firstDigit; at < end; at++) {
            byte b = in.getByte(at);
            if (b == '\r') {
                break;
            }
            check(b >= '0' && b <= '9' && at - firstDigit < MAX_DIGITS, otherwise);
            number = number * 10 + (b - '0');
        }
        if (at + 1 >= end) {
            return INCOMPLETE;
        }
        check(at > firstDigit && in.getByte(at + 1) == '\n', otherwise);
        in.readerIndex(at + LINE_END_BYTES);
        return negative ? -number : number;
    }

    private boolean line(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        int start = in.readerIndex();
        int end = in.indexOf(start + lineScanned, in.writerIndex(), (byte) '\n');
        int lineBytes = (end < 0 ? in.writerIndex() : end) - start;
        int most = intake.stranger() ? RespLimits.MAX_STRANGER_BYTES : RespLimits.MAX_INLINE_BYTES;
        check(lineBytes <= most, "too big inline request");
        if (end < 0) {
            lineScanned = lineBytes;
            return false;
        }
        byte[] line = new byte[lineBytes];
        in.getBytes(start, line);
        int mostWords = InlineWords.most(line);
        if (mostWords > 0 && !grants(RespLimits.REQUEST_OVERHEAD_BYTES + mostWords * RespLimits.WORD_OVERHEAD_BYTES)) {
            lineScanned = lineBytes;
            return false;
        }
        lineScanned = 0;
        in.skipBytes(lineBytes + 1);
        byte @Nullable [][] split = InlineWords.split(line);
        if (split == null) {
            throw violation("unbalanced quotes in request");
        }
        check(split.length <= RespLimits.MAX_STRANGER_WORDS || !intake.stranger(), STRANGER_ARRAY);
        if (split.length > 0) {
            rejectHttp(split[0], context.channel());
            out.add(new Command(specs, split));
        }
        return true;
    }

    /**
     * Rejects an HTTP request. A web page can make a browser send an HTTP request to any port of the browser's machine,
     * and the server must not run the body as commands.
     */
    private static void rejectHttp(byte[] firstWord, Channel channel) {
        for (AsciiString word : HTTP_WORDS) {
            if (word.contentEqualsIgnoreCase(new AsciiString(firstWord, false))) {
                long left = LINES.next();
                if (left >= 0) {
                    LOG.warn(
                            "SECURITY: closing {}: it sent HTTP to the RESP port, as a web page does that makes a"
                                    + " browser attack this server ({} more since the last line)",
                            channel.remoteAddress(),
                            left);
                }
                throw violation("this port is for RESP, not HTTP");
            }
        }
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw violation(otherwise);
        }
    }

    private static CommandException violation(String problem) {
        return new CommandException("ERR Protocol error: " + problem);
    }
}
