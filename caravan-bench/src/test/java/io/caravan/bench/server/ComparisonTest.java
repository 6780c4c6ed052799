package io.caravan.bench.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Turn;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that a peer is compared with Caravan in the same run, not with the median of other runs. */
class ComparisonTest {
    private static final MeasuredServer PEER = Redis.inMemory();
    private static final String WORKLOAD = "work";

    private final Results results = new Results();

    @Test
    void comparesWithinEachRun() {
        run(100, 50);
        run(300, 100);
        run(90, 90);
        Row row = new Row(WORKLOAD, PEER.name(), PEER.durability());
        Results.Spread ratio = results.spreads(row).get(Figure.CARAVAN_RATIO);
        assertThat(ratio).isNotNull();
        assertThat(ratio.runs()).containsExactly(2.0, 3.0, 1.0);
        assertThat(ratio.median()).isEqualTo(2.0);
    }

    @Test
    void computesRatioIfPeerIsMeasuredFirst() {
        Comparison comparison = new Comparison(results);
        Measurement peer = rate(50);
        comparison.add(WORKLOAD, PEER, peer);
        comparison.add(WORKLOAD, Caravan.asDelivered(), rate(100));
        assertThat(peer.get(Figure.CARAVAN_RATIO)).isEqualTo(2);
    }

    @Test
    void rotatesOrderInEachRun() {
        List<String> all = List.of("a", "b", "c");
        assertThat(turn(1).inTurn(all)).containsExactly("a", "b", "c");
        assertThat(turn(2).inTurn(all)).containsExactly("b", "c", "a");
        assertThat(turn(3).inTurn(all)).containsExactly("c", "a", "b");
        assertThat(turn(4).inTurn(all)).containsExactly("a", "b", "c");
    }

    private static Turn turn(int run) {
        return new Turn(Path.of("unused"), run, "");
    }

    @Test
    void omitsRatioForPeerWithoutCaravan() {
        new Comparison(results).add(WORKLOAD, PEER, rate(1));
        assertThat(results.figures()).containsExactly(Figure.REQUESTS_PER_SECOND);
    }

    private void run(double caravan, double peer) {
        Comparison comparison = new Comparison(results);
        comparison.add(WORKLOAD, Caravan.asDelivered(), rate(caravan));
        comparison.add(WORKLOAD, PEER, rate(peer));
    }

    private static Measurement rate(double perSecond) {
        return new Measurement().with(Figure.REQUESTS_PER_SECOND, perSecond);
    }
}
