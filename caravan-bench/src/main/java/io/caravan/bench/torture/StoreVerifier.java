package io.caravan.bench.torture;

import io.caravan.VerifyReport;
import java.nio.file.Path;

/** Verifies a closed store. */
@FunctionalInterface
interface StoreVerifier {
    VerifyReport verify(Path directory);
}
