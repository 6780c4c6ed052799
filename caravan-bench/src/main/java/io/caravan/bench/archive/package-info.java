/**
 * Measures archiving and restoring: the server, in its own process, archives to S3 servers on the same machine.
 * Archiving is compared with the AWS SDK putting objects of the same sizes.
 */
@NullMarked
package io.caravan.bench.archive;

import org.jspecify.annotations.NullMarked;
