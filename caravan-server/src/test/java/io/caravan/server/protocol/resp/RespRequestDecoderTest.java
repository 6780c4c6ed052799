package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.caravan.testing.Seeds;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RespRequestDecoderTest {
    private static final String PREFIX = "ERR Protocol error: ";

    private static final RespLimits LIMITS = new RespLimits(1000, 10_000);

    /**
     * Returns the decoded requests as text: words in brackets, rejected requests after "?", and protocol errors after
     * "!".
     */
    private static List<String> decode(RespLimits limits, byte[]... pieces) {
        EmbeddedChannel channel = new EmbeddedChannel(new RespRequestDecoder(Map.of(), limits, new TestIntake()));
        for (byte[] piece : pieces) {
            channel.writeInbound(Unpooled.wrappedBuffer(piece));
        }
        List<String> requests = new ArrayList<>();
        for (RespRequest request = channel.readInbound(); request != null; request = channel.readInbound()) {
            requests.add(format(request));
        }
        channel.finishAndReleaseAll();
        return requests;
    }

    private static String format(RespRequest request) {
        if (request instanceof RespRequest.Rejected rejected && !rejected.last()) {
            return "?" + rejected.error();
        }
        if (request instanceof RespRequest.Rejected rejected) {
            assertThat(rejected.error()).startsWith(PREFIX);
            return "!" + rejected.error().substring(PREFIX.length());
        }
        Command command = (Command) request;
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < command.size(); i++) {
            text.append('[').append(new String(command.word(i), ISO_8859_1)).append(']');
        }
        return text.toString();
    }

    private static byte[] bytes(String text) {
        return text.replace("~", "\r\n").getBytes(ISO_8859_1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"POST / HTTP/1.1~", "post /~", "GET / HTTP/1.1~Host: 127.0.0.1:6380~", "PUT /~\"HOST:\" x~"})
    void rejectsHttpRequestBeforeBody(String head) {
        List<String> requests = decode(head + "~RPUSH pwned x~");
        assertThat(requests).last().isEqualTo("!this port is for RESP, not HTTP");
        assertThat(requests).noneMatch(request -> request.contains("RPUSH"));
    }

    @Test
    void acceptsHttpLikeWordsAsArguments() {
        assertThat(decode("LLEN Host:~*2~$4~LLEN~$4~POST~")).containsExactly("[LLEN][Host:]", "[LLEN][POST]");
    }

    private static List<String> decode(String... pieces) {
        byte[][] all = new byte[pieces.length][];
        for (int i = 0; i < pieces.length; i++) {
            all[i] = bytes(pieces[i]);
        }
        return decode(LIMITS, all);
    }

    /** Delayed requests must stay undecoded, because a decoded request needs many times the memory of its bytes. */
    @Test
    void keepsDelayedRequestsUndecoded() throws Exception {
        TestIntake intake = new TestIntake();
        RespRequestDecoder decoder = new RespRequestDecoder(Map.of(), LIMITS, intake);
        EmbeddedChannel channel = new EmbeddedChannel(decoder);
        intake.room = 3;
        channel.pipeline().addLast(intake);
        channel.writeInbound(Unpooled.wrappedBuffer(bytes("a\n".repeat(10_000))));
        assertThat(intake.taken).isEqualTo(3);
        assertThat(decoder.paused()).isTrue();
        assertThat(decoder.unfinishedBytes()).isEqualTo(2 * (10_000 - 3));
        decoder.resume();
        assertThat(intake.taken).isEqualTo(3);
        intake.room = Integer.MAX_VALUE;
        decoder.resume();
        assertThat(intake.taken).isEqualTo(10_000);
        assertThat(decoder.paused()).isFalse();
        assertThat(decoder.unfinishedBytes()).isZero();
        channel.finishAndReleaseAll();
    }

    @Test
    void keepsBytesUntilMemoryIsAvailable() throws Exception {
        int words = 1_000;
        TestIntake intake = new TestIntake();
        RespRequestDecoder decoder = new RespRequestDecoder(Map.of(), new RespLimits(1000, 1_000_000), intake);
        EmbeddedChannel channel = new EmbeddedChannel(decoder, intake);
        intake.memory = 10_000;
        byte[] request = bytes("*" + words + "~" + "$1~a~".repeat(words));
        channel.writeInbound(Unpooled.wrappedBuffer(request));
        assertThat(intake.taken).isZero();
        assertThat(decoder.paused()).isTrue();
        assertThat(10_000 / RespLimits.WORD_OVERHEAD_BYTES).isLessThan(words);
        decoder.resume();
        assertThat(intake.taken).isZero();
        intake.memory = (long) words * RespLimits.WORD_OVERHEAD_BYTES;
        decoder.resume();
        assertThat(intake.taken).isOne();
        assertThat(decoder.paused()).isFalse();

        intake.memory = 0;
        channel.writeInbound(Unpooled.wrappedBuffer(bytes("a b c~".repeat(100))));
        assertThat(intake.taken).isLessThan(101);
        assertThat(decoder.paused()).isTrue();
        intake.memory = Long.MAX_VALUE;
        decoder.resume();
        assertThat(intake.taken).isEqualTo(101);
        channel.finishAndReleaseAll();
    }

    @Test
    void decodesConsecutiveArraysAndInlineRequests() {
        assertThat(decode("*2~$4~LLEN~$1~k~PING~*1~$0~~*0~*-1~~ECHO 'a b'\n*1~$3~\0\r\n~"))
                .containsExactly("[LLEN][k]", "[PING]", "[]", "[ECHO][a b]", "[\0\r\n]");
    }

    @Test
    void decodesSameRequestsAtAnySplit() {
        byte[] whole = bytes("*3~$5~RPUSH~$3~doc~$14~line~ends~\0!~PING \"x\\x41\"~*1~$4~QUIT~");
        List<String> unsplit = List.of("[RPUSH][doc][line\r\nends\r\n\0!]", "[PING][xA]", "[QUIT]");
        for (int first = 0; first <= whole.length; first++) {
            for (int second = first; second <= whole.length; second++) {
                assertThat(decode(
                                LIMITS,
                                slice(whole, 0, first),
                                slice(whole, first, second),
                                slice(whole, second, whole.length)))
                        .as("split at %d and %d", first, second)
                        .isEqualTo(unsplit);
            }
        }
    }

    private static byte[] slice(byte[] whole, int from, int to) {
        byte[] slice = new byte[to - from];
        System.arraycopy(whole, from, slice, 0, slice.length);
        return slice;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            *1~$-1~                               | invalid bulk length
            *1~$99999999999999999999~             | invalid bulk length
            *1~$~                                 | invalid bulk length
            *1~$-~                                | invalid bulk length
            *1~$1x~                               | invalid bulk length
            *1~$ 1~                               | invalid bulk length
            *1~$000000000000000000000000000       | invalid bulk length
            *1048577~                             | invalid multibulk length
            *9223372036854775808~                 | invalid multibulk length
            *~                                    | invalid multibulk length
            *1\\n                                 | invalid multibulk length
            *1~*1~$1~a~                           | expected '$', got '*'
            *1~:1~                                | expected '$', got ':'
            *1~+OK~                               | expected '$', got '+'
            *1~\u00e9                             | expected '$', got '?'
            *1~$1~ab~                             | expected a line end after a bulk string
            ECHO 'a'b~                            | unbalanced quotes in request
            ECHO "a~                              | unbalanced quotes in request
            """)
    void stopsAtFirstProtocolError(String sent, String problem) {
        assertThat(decode(sent.replace("\\n", "\n"), "*1~$4~PING~")).containsExactly("!" + problem);
    }

    /** The decoder must skip a request with an overlong word, and must not retain earlier bytes of the request. */
    @Test
    void skipsRequestWithTooLongWordAndContinues() {
        byte[] whole = bytes("*4~$5~RPUSH~$3~doc~$1001~" + "v".repeat(1001) + "~$4~last~*1~$4~PING~");
        String rejected = "?ERR a value of 1001 bytes is over the limit of 1000 bytes; nothing was changed. Start the"
                + " server with a greater --max-value to raise it";
        for (int split = 0; split <= whole.length; split++) {
            assertThat(decode(LIMITS, slice(whole, 0, split), slice(whole, split, whole.length)))
                    .as("split at %d", split)
                    .containsExactly(rejected, "[PING]");
        }
        RespRequestDecoder decoder = new RespRequestDecoder(Map.of(), LIMITS, new TestIntake());
        EmbeddedChannel channel = new EmbeddedChannel(decoder);
        channel.writeInbound(Unpooled.wrappedBuffer(bytes("*2~$5~RPUSH~$100000000~")));
        byte[] piece = new byte[100_000];
        for (int sent = 0; sent < 1000; sent++) {
            channel.writeInbound(Unpooled.wrappedBuffer(piece));
            assertThat(decoder.unfinishedBytes()).isEqualTo(1);
        }
        assertThat(channel.<RespRequest>readInbound()).isNull();
        channel.writeInbound(Unpooled.wrappedBuffer(bytes("~")));
        assertThat(channel.<RespRequest>readInbound()).isInstanceOf(RespRequest.Rejected.class);
        assertThat(decoder.unfinishedBytes()).isZero();
        channel.finishAndReleaseAll();
    }

    @Test
    void stopsAtWordTooLongToSkip() {
        for (long length : new long[] {512 << 20, (512 << 20) + 1, 1L << 31, 999_999_999_999_999_999L}) {
            assertThat(decode("*3~$1~a~$" + length + "~"))
                    .containsExactly("!a value of " + length + " bytes is over the limit of 1000 bytes; nothing was"
                            + " changed. Start the server with a greater --max-value to raise it");
        }
        assertThat(decode("*1~$1001~" + "v".repeat(1001) + "xx"))
                .containsExactly("!expected a line end after a bulk string");
    }

    @Test
    void limitsRequestAndInlineLineSize() {
        StringBuilder many = new StringBuilder("*20~");
        for (int i = 0; i < 20; i++) {
            many.append("$1000~").append("x".repeat(1000)).append('~');
        }
        assertThat(decode(many.toString(), "PING~"))
                .satisfiesExactly(
                        tooLarge -> assertThat(tooLarge).startsWith("?ERR a request over 10000 bytes"),
                        next -> assertThat(next).isEqualTo("[PING]"));
        assertThat(decode("x".repeat(RespLimits.MAX_INLINE_BYTES) + "\n")).hasSize(1);
        assertThat(decode("x".repeat(RespLimits.MAX_INLINE_BYTES + 1))).containsExactly("!too big inline request");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "*1048576~",
                "*1048576~$1~a~",
                "*1~$33554432~",
                "*2147483647~",
                "*1~$2147483647~",
                "*-2147483648~$-2147483648~"
            })
    void announcedLengthsAllocateNoMemory(String sent) {
        RespLimits wide = new RespLimits(32 * 1024 * 1024, Long.MAX_VALUE);
        byte[] hostile = bytes(sent);
        decode(wide, hostile);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        decode(wide, hostile);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(256 * 1024);
    }

    @Test
    void decodesRandomBytesIndependentlyOfSplits() {
        Seeds.forEach(300, seed -> {
            Random random = new Random(seed);
            byte[] sent = random.nextBoolean() ? noise(random) : damaged(random);
            assertThat(decode(LIMITS, pieces(sent, random))).isEqualTo(decode(LIMITS, sent));
        });
    }

    /** Returns bytes that occur in RESP requests, in random order. */
    private static byte[] noise(Random random) {
        String alphabet = "*$0123456789-\r\n\r\n\"'\\x aPING";
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = random.nextInt(200); i > 0; i--) {
            out.write(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        return out.toByteArray();
    }

    /** Returns valid requests in which one byte has changed. */
    private static byte[] damaged(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(5); i >= 0; i--) {
            int words = 1 + random.nextInt(4);
            text.append('*').append(words).append('~');
            for (int w = 0; w < words; w++) {
                int length = random.nextInt(30);
                text.append('$')
                        .append(length)
                        .append('~')
                        .append("v".repeat(length))
                        .append('~');
            }
        }
        byte[] bytes = bytes(text.toString());
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        return bytes;
    }

    private static byte[][] pieces(byte[] sent, Random random) {
        List<byte[]> pieces = new ArrayList<>();
        int at = 0;
        while (at < sent.length) {
            int next = Math.min(sent.length, at + 1 + random.nextInt(10));
            pieces.add(slice(sent, at, next));
            at = next;
        }
        return pieces.toArray(byte[][]::new);
    }
}
