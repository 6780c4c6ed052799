package io.caravan.server.protocol.http.endpoint;

import io.netty.buffer.ByteBuf;

/** Detects the ends of characters in UTF-8. */
final class Utf8 {
    private static final int MAX_CHARACTER_BYTES = 4;
    private static final int CONTINUATION_MASK = 0xC0;
    private static final int CONTINUATION = 0x80;
    private static final int LEAD_OF_2 = 0xC2;
    private static final int LEAD_OF_3 = 0xE0;
    private static final int LEAD_OF_4 = 0xF0;
    private static final int BEYOND_LEADS = 0xF5;

    private Utf8() {}

    /** Whether the text ends with a complete character. Bytes that are not UTF-8 count as complete. */
    static boolean endsWhole(ByteBuf text) {
        int end = text.writerIndex();
        int from = Math.max(text.readerIndex(), end - MAX_CHARACTER_BYTES + 1);
        for (int at = end - 1; at >= from; at--) {
            int b = text.getUnsignedByte(at);
            if ((b & CONTINUATION_MASK) != CONTINUATION) {
                return end - at >= length(b);
            }
        }
        return true;
    }

    private static int length(int lead) {
        if (lead < LEAD_OF_2 || lead >= BEYOND_LEADS) {
            return 1;
        }
        if (lead < LEAD_OF_3) {
            return 2;
        }
        return lead < LEAD_OF_4 ? 3 : 4;
    }
}
