real sum = 0;
for (int k = 0; k < SIZE; ++k)
    sum += A_AT(i, k) * B_AT(k, j);
