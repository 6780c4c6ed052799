package io.caravan.server.protocol.http;

/** The headers of the Durable Streams protocol and of its extensions. */
public final class StreamHeaders {
    public static final String NEXT_OFFSET = "Stream-Next-Offset";
    /** An extension of the protocol: the offset of the first retained value. */
    public static final String FIRST_OFFSET = "Stream-First-Offset";

    /** An extension of the protocol: the offset that the first appended value must get. */
    public static final String IF_OFFSET = "Stream-If-Offset";

    /** An extension of the protocol: the durability of a stream's writes, if it is lower than the server's. */
    public static final String DURABILITY = "Stream-Durability";

    public static final String UP_TO_DATE = "Stream-Up-To-Date";
    public static final String CLOSED = "Stream-Closed";
    public static final String CURSOR = "Stream-Cursor";
    public static final String SEQ = "Stream-Seq";
    public static final String TTL = "Stream-TTL";
    public static final String EXPIRES_AT = "Stream-Expires-At";
    public static final String FORKED_FROM = "Stream-Forked-From";
    public static final String FORK_OFFSET = "Stream-Fork-Offset";
    public static final String FORK_SUB_OFFSET = "Stream-Fork-Sub-Offset";
    public static final String SSE_DATA_ENCODING = "Stream-SSE-Data-Encoding";
    static final String PRODUCER_ID = "Producer-Id";
    public static final String PRODUCER_EPOCH = "Producer-Epoch";
    public static final String PRODUCER_SEQ = "Producer-Seq";
    static final String PRODUCER_EXPECTED_SEQ = "Producer-Expected-Seq";
    static final String PRODUCER_RECEIVED_SEQ = "Producer-Received-Seq";

    private StreamHeaders() {}
}
