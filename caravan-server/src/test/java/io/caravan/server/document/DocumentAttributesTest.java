package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.AGES;
import static io.caravan.server.document.DocumentAttributes.BY_A_CLIENT;
import static io.caravan.server.document.DocumentAttributes.CLOSED;
import static io.caravan.server.document.DocumentAttributes.DELETED;
import static io.caravan.server.document.DocumentAttributes.FENCE;
import static io.caravan.server.document.DocumentAttributes.FORK;
import static io.caravan.server.document.DocumentAttributes.FORKS;
import static io.caravan.server.document.DocumentAttributes.ORIGIN;
import static io.caravan.server.document.DocumentAttributes.PRESENT;
import static io.caravan.server.document.DocumentAttributes.PRODUCERS;
import static io.caravan.server.document.DocumentAttributes.RESTORING;
import static io.caravan.server.document.DocumentAttributes.STREAM_SEQ;
import static io.caravan.server.document.DocumentAttributes.TIMESTAMPS;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes.Fence;
import io.caravan.server.document.DocumentAttributes.Fork;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** Tests that the encoding of attributes stays compatible with the stores and archives of earlier releases. */
class DocumentAttributesTest {
    /** The encoding of all attributes except the absolute expiry. */
    private static final String ALL =
            "0461676573200000000000000f4240000000000000000500000000001e848000000000000000090861726368697665642c00"
                    + "0000000000000001000000000000000200000000000000030000000000000004000000012a05f200fffffffa06636c6f7365"
                    + "64030070c3a90c636f6e74656e742d747970651f006170706c69636174696f6e2f6a736f6e3b20636861727365743d757466"
                    + "2d380764656c6574656400000566656e63652400fffffffffffffffb6f746865723a3633383020687474703a2f2f6f746865"
                    + "723a3830383004666f726b2200000000000000000a0000000000000002000000000000000474686520736f7572636505666f"
                    + "726b7308000000000000000003056d6f7665640a006f746865723a36333830066f726967696e0f0000000000000000087374"
                    + "6f72652f310970726f6475636572732a000000000000000001000000000000000200036f6e65000000000000000300000100"
                    + "0000000000037ac3bc09726573746f72696e670100010573746172740800000000000000004d0a73747265616d2d73657105"
                    + "0073e282ac310a74696d657374616d70731800000000000000000a0000000000000014000000000000001e0374746c080000"
                    + "00000000000e10";

    /** The encodings of an absolute expiry, and of two attributes in the second of their two forms. */
    private static final String OTHERS =
            "06636c6f7365640000076578706972657308000000018bcfe5680009726573746f72696e670000";

    private static final Fork A_FORK = new Fork(10, 2, 4, DocumentName.of("the source"));
    private static final ArchiveMark A_MARK = new ArchiveMark(1, 2, 3, 4, 5_000_000_000L, -6);
    private static final Origin AN_ORIGIN = new Origin("store/1", 8);
    private static final Fence A_FENCE = new Fence(-5, RedirectTarget.parse("other:6380 http://other:8080"));

    private static DocumentAttributes decoded(String hex) {
        return DocumentAttributes.of(Attributes.decode(HexFormat.of().parseHex(hex)));
    }

    private static String encoded(DocumentAttributes attributes) {
        return HexFormat.of().formatHex(attributes.raw().encoded());
    }

    @Test
    void encodesAttributesLikeEarlierReleases() {
        Producers producers = Producers.NONE.with(new Producer("one", 1, 2)).with(new Producer("z\u00fc", 3, 1L << 40));
        DocumentAttributes all = DocumentAttributes.NONE
                .withContentType("application/json; charset=utf-8")
                .withTtlSeconds(3600)
                .with(CLOSED, "p\u00e9")
                .with(STREAM_SEQ, "s\u20ac1")
                .with(PRODUCERS, producers)
                .with(FORK, A_FORK)
                .with(FORKS, 3L)
                .with(DELETED, PRESENT)
                .withStart(77)
                .with(RESTORING, BY_A_CLIENT)
                .withArchived(A_MARK)
                .with(AGES, Ages.NONE.with(5, 1_000_000, 0).with(9, 2_000_000, 0))
                .with(TIMESTAMPS, Timestamps.NONE.with(true, 10).with(false, 20).with(true, 30))
                .with(ORIGIN, AN_ORIGIN)
                .with(FENCE, A_FENCE)
                .withMovedTo(RedirectTarget.parse("other:6380"));
        DocumentAttributes others = DocumentAttributes.NONE
                .withExpiresAtMillis(1_700_000_000_000L)
                .with(CLOSED, PRESENT)
                .with(RESTORING, PRESENT);

        assertThat(encoded(all)).isEqualTo(ALL);
        assertThat(all.portableHash()).isEqualTo(981047626);
        assertThat(encoded(others)).isEqualTo(OTHERS);
    }

    @Test
    void decodesAttributesOfEarlierReleases() {
        DocumentAttributes all = decoded(ALL);
        assertThat(all.contentType()).isEqualTo("application/json; charset=utf-8");
        assertThat(all.ttlSeconds()).hasValue(3600);
        assertThat(all.get(CLOSED)).isEqualTo("p\u00e9");
        assertThat(all.get(STREAM_SEQ)).isEqualTo("s\u20ac1");
        assertThat(all.producers().find("one")).isEqualTo(new Producer("one", 1, 2));
        assertThat(all.producers().find("z\u00fc")).isEqualTo(new Producer("z\u00fc", 3, 1L << 40));
        assertThat(all.get(FORK)).isEqualTo(A_FORK);
        assertThat(all.forks()).isEqualTo(3);
        assertThat(all.deleted()).isTrue();
        assertThat(all.with(FORK, null).base()).isEqualTo(77);
        assertThat(all.importing()).isTrue();
        assertThat(all.archived()).isEqualTo(A_MARK);
        assertThat(all.ages().thereAt(1_999_999)).isEqualTo(5);
        assertThat(all.ages().thereAt(2_000_000)).isEqualTo(9);
        assertThat(all.timestamps().count(0, 40)).isEqualTo(20);
        assertThat(all.origin()).isEqualTo(AN_ORIGIN);
        assertThat(all.get(FENCE)).isEqualTo(A_FENCE);
        assertThat(all.movedTo()).isEqualTo(RedirectTarget.parse("other:6380"));

        DocumentAttributes others = decoded(OTHERS);
        assertThat(others.expiresAtMillis()).hasValue(1_700_000_000_000L);
        assertThat(others.closed()).isTrue();
        assertThat(others.get(CLOSED)).isEmpty();
        assertThat(others.restoring()).isTrue();
        assertThat(others.importing()).isFalse();
    }
}
