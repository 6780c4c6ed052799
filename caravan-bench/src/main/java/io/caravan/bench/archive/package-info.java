/**
 * What archiving and restoring take: the server, in a process of its own, archives to S3 servers on the same machine, beside
 * what the AWS SDK does with the same bytes.
 */
@NullMarked
package io.caravan.bench.archive;

import org.jspecify.annotations.NullMarked;
