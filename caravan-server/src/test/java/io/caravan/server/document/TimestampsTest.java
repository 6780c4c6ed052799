package io.caravan.server.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.Attributes;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.testing.Seeds;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests the timestamps of values in a space that records them. They are not part of the values. */
class TimestampsTest {
    private static final long NONE = -1;

    @AutoClose
    private final Documents documents = new Documents();

    private void timestamps(boolean on) {
        documents.set("a/", SpaceSetting.DOCUMENT_VALUES, 100);
        documents.set("a/", SpaceSetting.TIMESTAMPS, on ? 1 : 0);
    }

    /** Returns the timestamps of a document's values, with {@link #NONE} for a value without one. */
    private List<Long> times(String name) {
        List<Long> times = new ArrayList<>();
        documents
                .service()
                .read(
                        Documents.name(name),
                        info -> new SequenceRange(info.firstSequence(), info.nextSequence()),
                        new DocumentReader() {
                            @Override
                            public boolean next(long sequence, ByteBuffer value) {
                                return times.add(NONE);
                            }

                            @Override
                            public boolean next(long sequence, long millis, ByteBuffer value) {
                                return times.add(millis);
                            }
                        });
        return times;
    }

    private long bytes(String name) {
        return bytes(name, documents.found(name));
    }

    private long bytes(String name, DocumentInfo info) {
        return documents.service().bytes(Documents.name(name), info);
    }

    @Test
    void sizeIsCorrectAfterTimestampsAreSwitched() {
        timestamps(true);
        documents.push("a/1", "one");
        DocumentInfo timed = documents.found("a/1");
        timestamps(false);
        documents.push("a/1", "x", "y", "z");
        DocumentInfo untimed = documents.found("a/1");
        assertThat(bytes("a/1", timed)).isEqualTo("onexyz".length());
        timestamps(true);
        documents.push("a/1", "two");
        assertThat(bytes("a/1", untimed)).isEqualTo("onexyztwo".length());
    }

    @Test
    void valueHasTimeOfItsAppend() {
        documents.push("a/1", "before");
        timestamps(true);
        long first = documents.nowMillis();
        documents.push("a/1", "one", "two");
        documents.pass(Duration.ofSeconds(3));
        documents.push("a/1", "");
        documents.push("b/1", "elsewhere");
        timestamps(false);
        documents.push("a/1", "after");
        assertThat(times("a/1")).containsExactly(NONE, first, first, first + 3000, NONE);
        assertThat(times("b/1")).containsExactly(NONE);
        assertThat(documents.read("a/1")).containsExactly("before", "one", "two", "", "after");
        assertThat(bytes("a/1")).isEqualTo("beforeonetwoafter".length());
        documents.edit("a/1", document -> document.trimTo(2));
        documents.reopen();
        assertThat(times("a/1")).containsExactly(first, first + 3000, NONE);
        assertThat(documents.read("a/1")).containsExactly("two", "", "after");
        assertThat(bytes("a/1")).isEqualTo("twoafter".length());
    }

    @Test
    void attributeChangesKeepTimestamps() {
        timestamps(true);
        long now = documents.nowMillis();
        documents.create("a/1", "text/plain", "one");
        documents.add(new AppendRequest(
                Documents.name("a/1"),
                Documents.values("two"),
                true,
                null,
                "s1",
                new Producer("p", 0, 0),
                OptionalLong.empty()));
        assertThat(times("a/1")).containsExactly(now, now);
        assertThat(documents.read("a/1")).containsExactly("one", "two");
        DocumentAttributes attributes = documents.found("a/1").attributes();
        assertThat(attributes.portable())
                .isEqualTo(attributes.with(DocumentAttributes.TIMESTAMPS, null).portable());
    }

    @Test
    void forkKeepsTimestampsOfSource() {
        documents.push("a/source", "0");
        timestamps(true);
        long first = documents.nowMillis();
        documents.push("a/source", "1", "2");
        documents.pass(Duration.ofSeconds(1));
        CreateRequest fork = Documents.fork("a/source", OptionalLong.of(2), "mine");
        documents.create("a/fork", fork);
        documents.create("b/fork", fork);
        documents.delete("a/source");
        assertThat(times("a/fork")).containsExactly(NONE, first, first + 1000);
        assertThat(times("b/fork")).containsExactly(NONE, first, NONE);
        assertThat(documents.read("a/fork")).containsExactly("0", "1", "mine");
        assertThat(documents.read("b/fork")).containsExactly("0", "1", "mine");
    }

    @Test
    void restoredValuesHaveNoTimestamps() {
        timestamps(true);
        long now = documents.nowMillis();
        documents.edit(
                "a/1", document -> document.restore(Attributes.EMPTY, null, 7, Documents.values("old", "older")));
        documents.push("a/1", "new");
        documents.edit("a/1", document -> document.appendArchived(Documents.values("merged")));
        assertThat(times("a/1")).containsExactly(NONE, NONE, now, NONE);
        assertThat(documents.read("a/1")).containsExactly("old", "older", "new", "merged");
        documents.delete("a/1");
        documents.push("a/1", "another");
        assertThat(times("a/1")).containsExactly(now);
    }

    @Test
    void ignoresTimestampSwitchesBeyondMaximum() {
        for (int i = 0; i < Timestamps.MOST_CHANGES + 3; i++) {
            timestamps(i % 2 == 0);
            documents.push("a/1", "v" + i);
        }
        List<Long> times = times("a/1");
        for (int i = 0; i < times.size(); i++) {
            boolean on = i < Timestamps.MOST_CHANGES && i % 2 == 0;
            assertThat(times.get(i)).as("value " + i).isEqualTo(on ? documents.nowMillis() : NONE);
            assertThat(documents.read("a/1")).element(i).isEqualTo("v" + i);
        }
    }

    @Test
    void timestampsCountTowardSpaceBytesNotValueLimit() {
        timestamps(true);
        Space space = documents.set("a/", SpaceSetting.VALUE_BYTES, 4);
        documents.push("a/1", "four");
        assertThat(space.bytes()).isEqualTo(4 + Timestamps.BYTES);
        documents.delete("a/1");
        assertThat(space.bytes()).isZero();
    }

    @Test
    void countsAndCoversRecordedSequences() {
        Seeds.forEach(20, seed -> {
            Random random = new Random(seed);
            Timestamps timestamps = Timestamps.NONE;
            BitSet expected = new BitSet();
            for (int next = 0; next < 100; next++) {
                timestamps = timestamps.with(random.nextInt(8) == 0 != timestamps.on(), next);
                timestamps = new Timestamps(Attribute.numbers(ByteBuffer.wrap(timestamps.encode())));
                expected.set(next, timestamps.on());
            }
            for (int i = 0; i < 100; i++) {
                int from = random.nextInt(101);
                int to = from + random.nextInt(101 - from);
                assertThat(timestamps.count(from, to))
                        .isEqualTo(expected.get(from, to).cardinality());
                assertThat(timestamps.covers(i)).isEqualTo(expected.get(i));
            }
        });
    }
}
