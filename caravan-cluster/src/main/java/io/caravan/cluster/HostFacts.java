package io.caravan.cluster;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * The answer of a host that another one asks before that one takes part for the first time. Numbers are big-endian.
 *
 * @param formatLevel of the frames that the host writes
 * @param logSegmentBytes of its store
 * @param hasSeenAsker whether the one that asks has had entries of the group already
 */
record HostFacts(int formatLevel, int logSegmentBytes, boolean hasSeenAsker) {
    /** Its first byte tells the question from a request for files. */
    private static final byte KIND = 2;

    private static final int BYTES = 1 + 2 * Integer.BYTES + 1;

    /** The question. */
    static ByteString question(String asker) {
        return ByteString.copyFrom(new byte[] {KIND}).concat(ByteString.copyFromUtf8(asker));
    }

    static boolean isQuestion(ByteString message) {
        return !message.isEmpty() && message.byteAt(0) == KIND;
    }

    /** Who asks, by its id. */
    static String asker(ByteString question) {
        return question.substring(1).toString(StandardCharsets.UTF_8);
    }

    ByteString encode() {
        ByteBuffer bytes = ByteBuffer.allocate(BYTES);
        bytes.put(KIND).putInt(formatLevel).putInt(logSegmentBytes).put((byte) (hasSeenAsker ? 1 : 0));
        return UnsafeByteOperations.unsafeWrap(bytes.flip());
    }

    /** Reads an answer. A later version may say more. */
    static HostFacts decode(ByteString message) throws IOException {
        ByteBuffer bytes = message.asReadOnlyByteBuffer();
        if (bytes.remaining() < BYTES || bytes.get() != KIND) {
            throw new IOException("the other host's answer is not one that this version of Caravan knows");
        }
        return new HostFacts(bytes.getInt(), bytes.getInt(), bytes.get() != 0);
    }
}
