package io.caravan.server.http;

/** The headers of the Durable Streams protocol, and one of our own. */
final class StreamHeaders {
    static final String NEXT_OFFSET = "Stream-Next-Offset";
    /** Our own: offset of the first retained value. */
    static final String FIRST_OFFSET = "Stream-First-Offset";

    static final String UP_TO_DATE = "Stream-Up-To-Date";
    static final String CLOSED = "Stream-Closed";
    static final String CURSOR = "Stream-Cursor";
    static final String SEQ = "Stream-Seq";
    static final String TTL = "Stream-TTL";
    static final String EXPIRES_AT = "Stream-Expires-At";
    static final String FORKED_FROM = "Stream-Forked-From";
    static final String FORK_OFFSET = "Stream-Fork-Offset";
    static final String FORK_SUB_OFFSET = "Stream-Fork-Sub-Offset";
    static final String SSE_DATA_ENCODING = "Stream-SSE-Data-Encoding";
    static final String PRODUCER_ID = "Producer-Id";
    static final String PRODUCER_EPOCH = "Producer-Epoch";
    static final String PRODUCER_SEQ = "Producer-Seq";
    static final String PRODUCER_EXPECTED_SEQ = "Producer-Expected-Seq";
    static final String PRODUCER_RECEIVED_SEQ = "Producer-Received-Seq";

    private StreamHeaders() {}
}
