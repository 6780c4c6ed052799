package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.caravan.fuzz.FuzzTarget;
import io.caravan.fuzz.MemoryUse;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A fuzz target that decodes arbitrary bytes as RESP, both all at once and in pieces. The first input byte is the piece
 * size.
 *
 * <p>The decoder must produce the same requests in both cases, all of them within the limits, and nothing after
 * malformed bytes.
 */
public final class RequestTarget implements FuzzTarget {
    private static final RespLimits LIMITS = new RespLimits(1000, 10_000);
    /** The memory of a channel and its pipeline. */
    private static final long FIXED_BYTES = 256 << 10;
    /**
     * The maximum memory per input byte. A line of one-character words needs the most: a growing array, its copy, and a
     * reference in a list for each word.
     */
    private static final long TIMES_THE_INPUT = 128;

    @Override
    public List<byte[]> samples() {
        List<byte[]> samples = new ArrayList<>();
        for (String text : List.of(
                "\1*3~$5~RPUSH~$3~doc~$11~line~ends~\0~*1~$4~PING~",
                "\7*2~$4~LLEN~$1~k~*1~$0~~*0~*-1~PING~",
                "\3ECHO 'a b' \"x\\x41\\n\"~PING\nQUIT~",
                "\0*1048576~$1~a~",
                "\0*2~$999~",
                "\2LRANGE k 0 -1~*4~$6~LRANGE~$1~k~$1~0~$2~-1~")) {
            samples.add(text.replace("~", "\r\n").getBytes(ISO_8859_1));
        }
        return samples;
    }

    @Override
    public void run(byte[] input) throws Exception {
        byte[] sent = input.length == 0 ? input : Arrays.copyOfRange(input, 1, input.length);
        int piece = input.length == 0 ? 1 : 1 + (input[0] & 0xFF);
        List<RespRequest> whole = new ArrayList<>();
        MemoryUse.within(FIXED_BYTES + TIMES_THE_INPUT * sent.length, () -> {
            whole.clear();
            whole.addAll(decode(sent, Math.max(1, sent.length)));
        });
        checkWithinLimits(whole);
        requireSame(whole, decode(sent, piece));
        requireSame(commandsOf(whole), decode(encoded(whole), piece));
    }

    private static List<RespRequest> decode(byte[] sent, int pieceBytes) {
        EmbeddedChannel channel = new EmbeddedChannel(new RespRequestDecoder(Map.of(), LIMITS, new TestIntake()));
        for (int at = 0; at < sent.length; at += pieceBytes) {
            channel.writeInbound(Unpooled.wrappedBuffer(sent, at, Math.min(pieceBytes, sent.length - at)));
        }
        List<RespRequest> requests = new ArrayList<>();
        for (RespRequest request = channel.readInbound(); request != null; request = channel.readInbound()) {
            requests.add(request);
        }
        channel.finishAndReleaseAll();
        return requests;
    }

    private static void checkWithinLimits(List<RespRequest> requests) {
        for (int i = 0; i < requests.size(); i++) {
            RespRequest request = requests.get(i);
            boolean last = i == requests.size() - 1;
            require(request instanceof Command || last, "a request behind bytes that are none", request);
            if (request instanceof Command command) {
                require(command.size() > 0 && command.size() <= RespLimits.MAX_WORDS, "a number of words", request);
                for (int word = 0; word < command.size(); word++) {
                    int most = Math.max(LIMITS.maxWordBytes(), RespLimits.MAX_INLINE_BYTES);
                    require(command.word(word).length <= most, "the length of a word", request);
                }
            }
        }
    }

    private static List<RespRequest> commandsOf(List<RespRequest> requests) {
        return requests.stream()
                .filter(Command.class::isInstance)
                .filter(RequestTarget::fitsAnArray)
                .toList();
    }

    /** Whether the request is within the limits of an array request. An inline request may have longer words. */
    private static boolean fitsAnArray(RespRequest request) {
        Command command = (Command) request;
        long bytes = 0;
        for (int word = 0; word < command.size(); word++) {
            if (command.word(word).length > LIMITS.maxWordBytes()) {
                return false;
            }
            bytes += command.word(word).length + RespLimits.WORD_OVERHEAD_BYTES;
        }
        return bytes <= LIMITS.maxRequestBytes();
    }

    private static byte[] encoded(List<RespRequest> requests) {
        StringBuilder text = new StringBuilder();
        for (RespRequest request : commandsOf(requests)) {
            Command command = (Command) request;
            text.append('*').append(command.size()).append("\r\n");
            for (int word = 0; word < command.size(); word++) {
                String bytes = new String(command.word(word), ISO_8859_1);
                text.append('$')
                        .append(bytes.length())
                        .append("\r\n")
                        .append(bytes)
                        .append("\r\n");
            }
        }
        return text.toString().getBytes(ISO_8859_1);
    }

    private static void requireSame(List<RespRequest> expected, List<RespRequest> found) {
        require(expected.size() == found.size(), "a number of requests, not " + expected.size(), found.size());
        for (int i = 0; i < expected.size(); i++) {
            require(
                    text(expected.get(i)).equals(text(found.get(i))),
                    "a request that is another in pieces",
                    found.get(i));
        }
    }

    private static String text(RespRequest request) {
        if (request instanceof RespRequest.Rejected rejected) {
            return "!" + rejected.error();
        }
        Command command = (Command) request;
        StringBuilder text = new StringBuilder();
        for (int word = 0; word < command.size(); word++) {
            text.append(command.word(word).length).append(':').append(new String(command.word(word), ISO_8859_1));
        }
        return text.toString();
    }

    private static void require(boolean holds, String what, Object found) {
        if (!holds) {
            throw new AssertionError(what + ": " + found);
        }
    }
}
